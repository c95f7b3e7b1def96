"""A model is looked up before anything large is fetched: what it is, how large, and whether it can be shown."""

import errno
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx2

from attention_core.bounds import HOSTED, HUB_SECONDS, MODEL_NAME_LETTERS, MODEL_TEXT_FILE_BYTES, is_hosted
from attention_core.hub import catalogue, room
from attention_core.hub.kinds import config_of, kind_of
from attention_core.hub.load import read_settings
from attention_core.hub.model import ModelError, ModelKind, first_line
from attention_core.hub.own import OWN

Progress = Callable[[int, int], None]
SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
TEXT_FILES = re.compile(
    r"(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab|target_vocab"
    r"|preprocessor_config|processor_config|normalizer)\.json|(vocab|merges|bpe\.codes)(\.txt)?|chat_template\.jinja"
    r"|(source|target)\.spm|spiece\.model|(sentencepiece|tokenizer)(\.bpe)?\.model"
)
"""What a model needs besides its weights: settings, a tokenizer, an image processor."""
FAULTS = (httpx2.HTTPError, OSError, ValueError)
"""What the hub's library raises where the network, the disk or an answer of the hub is at fault."""
READ_ONLY = "The folder in which this server keeps models cannot be written to, so none is fetched."
FOLDER_FAULTS = dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), READ_ONLY)
FOLDER_FAULTS[errno.ENOSPC] = "The disk is full."
OTHER_FORMATS = {
    "adapter_config.json": "holds an adapter only, to be put onto another model. Name that model instead.",
    "model_index.json": "is a pipeline of several models that makes pictures, not one model.",
    ".gguf": "holds quantised weights (GGUF) only. Name the repository of the original weights.",
    "": "has no config.json, so it is no model that the library transformers can load.",
}
"""What a repository without a config.json is, by a file or an ending in it."""


class RemoteFile(NamedTuple):
    """One file of a repository; size in bytes."""

    name: str
    size: int


@dataclass(frozen=True)
class ModelCandidate:
    """A model that can be had, n_bytes of weights; its name is a package, a hub id, or a folder's name or path.

    Without a folder, its files have to be fetched, of one revision (commit).
    """

    name: str
    kind: ModelKind
    architecture: str
    n_bytes: int
    folder: Path | None = None
    files: tuple[RemoteFile, ...] = ()
    revision: str = ""


def look_up(name: str, *, most_bytes: int | None = None, folders: bool = True) -> ModelCandidate:
    """Return what is known of a model before it is fetched.

    The name is a hub id, the address of a model's page there, a folder (begins with "/", "." or "~"), or a local
    model's name; most_model_bytes() bounds the weights unless most_bytes is given.

    Raises:
        NoMemory: there is no room for it now.
        ModelError: it does not exist, is too large, or cannot be shown, each in a sentence for people.
    """
    _refuse_other_hosts(name)
    name = cleaned(name)
    local = catalogue.find_local(name)
    if local is not None and local.source == "own":
        return ModelCandidate(local.name, *OWN[local.name], local.n_bytes, local.folder)
    if local is not None:
        return _in_folder(local.name, local.folder)
    if is_path(name):
        return _named_folder(name, folders)
    return _on_hub(name, room.most_model_bytes() if most_bytes is None else most_bytes)


def cleaned(name: str) -> str:
    """Return the name without spaces around it; the address of a model's page becomes its hub id."""
    name = name.strip()
    if not name:
        raise ModelError("Name a model, such as distilbert/distilgpt2.")
    if len(name) > MODEL_NAME_LETTERS.most or not name.isprintable():
        raise ModelError(f"A model's name has at most {MODEL_NAME_LETTERS.most} printable characters.")
    page = re.fullmatch(r"https?://[^/\s]+/(?:models/)?([^/\s?#]+(?:/[^/\s?#]+)?)(?:[/?#].*)?", name)
    return page[1] if page else name


def _refuse_other_hosts(name: str) -> None:
    from huggingface_hub import constants

    host = re.match(r"\s*[A-Za-z][\w+.-]*://(?:[^/?#]*@)?([^/?#:]*)", name)
    hosts = ("huggingface.co", "www.huggingface.co", "hf.co", urlsplit(constants.ENDPOINT).hostname)
    if host and host[1].lower() not in hosts:
        raise ModelError("This address is not the hub's. Name the model as owner/model; nothing else is asked.")


def is_path(name: str) -> bool:
    """Return whether a name stands for a folder: it begins as paths do, or is written with backslashes."""
    return name.startswith(("/", ".", "~")) or "\\" in name or bool(re.match(r"[A-Za-z]:[/\\]", name))


def _named_folder(name: str, allowed: bool) -> ModelCandidate:
    if not allowed or is_hosted():
        raise ModelError(
            "Folders can be opened only where the app runs on your own computer. Name a model of the hub. Whoever runs "
            f"the app can allow folders to all its visitors by setting {HOSTED}=0."
        )
    folder = Path(name).expanduser().resolve()
    if not folder.is_dir():
        raise ModelError(f"There is no folder {folder}.")
    return _in_folder(str(folder), folder)


def _in_folder(name: str, folder: Path) -> ModelCandidate:
    try:
        names = [file.name for file in folder.iterdir()]
    except OSError as error:
        raise ModelError(f"The folder {name} cannot be read: {error.strerror}.") from error
    _refuse_other_formats(name, names)
    settings = read_settings(folder)
    if not catalogue.is_complete(folder):
        raise ModelError(f"{name}: {catalogue.without_safetensors(names)}")
    config, kind = _told_of(name, settings)
    return ModelCandidate(name, kind, config.model_type, catalogue.n_bytes_of(folder), folder)


def _on_hub(name: str, most_bytes: int) -> ModelCandidate:
    from huggingface_hub import HfApi, constants, hf_hub_download
    from huggingface_hub.utils import HFValidationError, validate_repo_id
    from huggingface_hub.utils.tqdm import silent_tqdm

    try:
        validate_repo_id(name)
    except HFValidationError:
        raise ModelError(
            f"{name!r} is no name of a model: that is owner/model with letters, digits, '-', '_' and '.'. "
            "A folder begins with / or ./ or ~."
        ) from None
    try:
        found = HfApi(endpoint=constants.ENDPOINT, token=token()).model_info(
            name, files_metadata=True, timeout=HUB_SECONDS.most
        )
        sizes = {file.rfilename: file.size or 0 for file in found.siblings or []}
        _refuse_other_formats(name, list(sizes))
        weights, index = [catalogue.WEIGHTS], []
        if catalogue.WEIGHTS not in sizes:
            weights, index = sorted(file for file in sizes if SHARD.fullmatch(file)), [catalogue.INDEX]
        if not weights or not sizes.keys() >= {*index}:
            raise ModelError(f"{name}: {catalogue.without_safetensors(list(sizes))}")
        for file, size in sizes.items():
            most = MODEL_TEXT_FILE_BYTES.most
            if size > most and (TEXT_FILES.fullmatch(file) or file == catalogue.INDEX):
                sentence = f"{file} of {name} is {room.in_megabytes(size)}; at most {room.in_megabytes(most)} are read."
                raise ModelError(sentence)
        config_file = hf_hub_download(
            name, "config.json", revision=found.sha, endpoint=constants.ENDPOINT, token=token(), tqdm_class=silent_tqdm
        )
    except ModelError:
        raise
    except FAULTS as error:
        raise ModelError(why(name, error)) from error
    settings = read_settings(Path(config_file).parent)
    config, kind = _told_of(name, settings)
    n_bytes = sum(sizes[file] for file in weights)
    texts = sorted(file for file in sizes if TEXT_FILES.fullmatch(file))
    files = tuple(RemoteFile(file, sizes[file]) for file in (*texts, *index, *weights))
    _refuse_too_large(name, files, most_bytes)
    n_parameters = found.safetensors.total if found.safetensors else room.n_parameters_of(n_bytes, settings)
    room.refuse_without_memory(name, n_parameters)
    return ModelCandidate(name, kind, config.model_type, n_bytes, files=files, revision=found.sha or "main")


def _refuse_too_large(name: str, files: Sequence[RemoteFile], most_bytes: int) -> None:
    if not all(file.size for file in files if file.name.endswith(".safetensors")):
        raise ModelError(f"The hub does not say how large the files of {name} are, so they are not fetched.")
    n_bytes = sum(file.size for file in files)
    if n_bytes > most_bytes:
        most = room.in_megabytes(most_bytes)
        raise ModelError(
            f"The files of {name} are {room.in_megabytes(n_bytes)}; this app downloads at most {most} for a model. "
            f"Whoever runs it can raise the bound with the variable {room.MOST_MEGABYTES}."
        )


def _told_of(name: str, settings: dict[str, Any]) -> tuple[Any, ModelKind]:
    try:
        config = config_of(settings)
        return config, kind_of(config)
    except ModelError as error:
        raise ModelError(f"{name} cannot be shown. {error}") from error


def _refuse_other_formats(name: str, files: Sequence[str]) -> None:
    if "config.json" not in files:
        known = {*files, *(Path(file).suffix for file in files), ""}
        raise ModelError(f"{name} {next(what for file, what in OTHER_FORMATS.items() if file in known)}")


def token() -> bool | None:
    """Return what the library is to sign in with: on a public server never with its owner's own token."""
    return False if is_hosted() else None


def why(name: str, error: Exception, wanted: str = "looked up") -> str:
    """Return what an error of the hub's library means, for people; wanted = what could not be done."""
    from huggingface_hub import errors

    no_network = (errors.OfflineModeIsEnabled, errors.LocalEntryNotFoundError, httpx2.TransportError, ConnectionError)
    if isinstance(error, (*no_network, TimeoutError)):
        return f"The hub cannot be reached, so {name} cannot be {wanted}. {available()}"
    if isinstance(error, errors.GatedRepoError):
        return f"{name} is given out only to people who have agreed to its terms on the hub. Name another model."
    if isinstance(error, errors.RepositoryNotFoundError):
        return f"There is no model {name} on the hub, or it is private.{_near(name)}"
    if isinstance(error, errors.DisabledRepoError):
        return f"The hub has disabled {name}."
    if isinstance(error, errors.EntryNotFoundError | errors.RevisionNotFoundError):
        return f"A file of {name} is missing on the hub."
    if isinstance(error, errors.HfHubHTTPError):
        status, refused = error.response.status_code, f"The hub does not give {name} to this server."
        busy = "The hub has had too many questions from this server. Try again in a few minutes."
        other = f"The hub answers with an error ({status}). Try again later."
        return {429: busy, 401: refused, 403: refused}.get(status, other)
    if isinstance(error, OSError) and error.errno in FOLDER_FAULTS:
        return FOLDER_FAULTS[error.errno]
    return f"{name} cannot be {wanted}: {first_line(error)}"


def available() -> str:
    names = [model.name for model in catalogue.listed_models()]
    return f"Without a network there is: {', '.join(names[:20])}." if names else "No model is on this machine yet."


def _near(name: str) -> str:
    """Return a hint at a name that differs little, or that has an owner in front."""
    names = (*(model.name for model in catalogue.SUGGESTIONS), *(model.name for model in catalogue.listed_models()))
    known = {known_name.lower(): known_name for known_name in names}
    near = get_close_matches(name.lower(), known, n=1, cutoff=0.7)
    return f" Did you mean {known[near[0]]}?" if near else ""
