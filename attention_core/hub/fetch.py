"""Download of a model into the hub's cache: counted in bytes, and gone on with where it broke off.

Weights come by a transfer of our own. The hub's library throws an unfinished file away when it fails or is stopped,
tells of progress in pieces of 10 MB, and checks no content that comes without its Xet storage. All else is its work.
"""

import hashlib
import re
import shutil
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

import httpx2

from attention_core.bounds import SPARE_DISK_BYTES
from attention_core.hub.disk import held, make_room
from attention_core.hub.look_up import FAULTS, ModelCandidate, Progress, RemoteFile, token, why
from attention_core.hub.model import ModelError
from attention_core.hub.room import in_megabytes
from attention_core.locks import Lock
from attention_core.log import log

ATTEMPTS = 4
"""How often a transfer that breaks off is gone on with at once."""
SHA256 = re.compile(r"[0-9a-f]{64}")
_ROOM = Lock("room on disk")
_ONE_OF_EACH: defaultdict[str, Lock] = defaultdict(lambda: Lock("download a model"))
_COMING: dict[str, int] = {}
"""Bytes that each model takes which is being fetched, by its folder."""


def fetch(candidate: ModelCandidate, progress: Progress | None = None) -> Path:
    """Return the folder of a model from look_up, after downloading what is not there yet.

    What has arrived stays: the next call goes on from there, within a file too. `progress` is called with (bytes that
    are there, bytes in all) from this thread; an error that it raises ends the download and comes through.
    """
    if candidate.folder is not None:
        return candidate.folder
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    cache, folder = Path(constants.HF_HUB_CACHE), repo_folder_name(repo_id=candidate.name, repo_type="model")
    n_bytes = sum(file.size for file in candidate.files)
    with _ONE_OF_EACH[folder], ExitStack() as later:
        try:
            with _ROOM:
                make_room(cache, folder, n_bytes, _COMING)
                (cache / folder).mkdir(parents=True, exist_ok=True)
                later.enter_context(held(cache / folder))
                later.callback(_COMING.pop, folder)
                _COMING[folder] = n_bytes
        except OSError as error:
            raise ModelError(why(candidate.name, error, "fetched")) from error
        count = _Count(n_bytes, progress)
        places = [_file(candidate, file, count) for file in candidate.files]
    return places[0].parent


class _Count:
    """Bytes that are there, over all files."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.total, self.done, self._before, self._progress = total, 0, 0, progress

    def of_this_file(self, n_bytes: int) -> None:
        self.done = self._before + n_bytes
        if self._progress is not None:
            self._progress(min(self.done, self.total), self.total)

    def whole(self, n_bytes: int) -> None:
        self.of_this_file(n_bytes)
        self._before = self.done


def _file(candidate: ModelCandidate, file: RemoteFile, count: _Count) -> Path:
    from huggingface_hub import constants, hf_hub_download, try_to_load_from_cache
    from huggingface_hub.utils.tqdm import silent_tqdm

    there = try_to_load_from_cache(candidate.name, file.name, revision=candidate.revision)
    if isinstance(there, str):
        count.whole(file.size)
        return Path(there)
    try:
        if file.name.endswith(".safetensors"):
            _blob(candidate, file, count)
        place = hf_hub_download(
            candidate.name,
            file.name,
            revision=candidate.revision,
            endpoint=constants.ENDPOINT,
            token=token(),
            tqdm_class=silent_tqdm,
        )
    except ModelError:
        raise
    except FAULTS as error:
        arrived = f" {in_megabytes(count.done)} of {in_megabytes(count.total)} have arrived and stay."
        raise ModelError(why(candidate.name, error, "fetched") + arrived * bool(count.done)) from error
    count.whole(file.size)
    return Path(place)


def _blob(candidate: ModelCandidate, file: RemoteFile, count: _Count) -> None:
    """Put the content of a file where the library looks for it before it downloads."""
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import repo_folder_name

    url = hf_hub_url(candidate.name, file.name, revision=candidate.revision, endpoint=constants.ENDPOINT)
    about = get_hf_file_metadata(url, token=token(), endpoint=constants.ENDPOINT)
    if about.etag is None or about.size is None or not re.fullmatch(r"[\w.-]+", about.etag):
        return
    blobs = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=candidate.name, repo_type="model") / "blobs"
    if (blobs / about.etag).exists():
        return
    blobs.mkdir(parents=True, exist_ok=True)
    part = blobs / f"{about.etag}.part"
    missing, free = about.size - (part.stat().st_size if part.exists() else 0), shutil.disk_usage(blobs).free
    if missing + SPARE_DISK_BYTES.most > free:
        raise ModelError(
            f"The disk has no room for {candidate.name}: {in_megabytes(missing)} are to come, {in_megabytes(free)} are "
            f"free and {in_megabytes(SPARE_DISK_BYTES.most)} of them are left free."
        )
    _transfer(url, part, about.size, count)
    if SHA256.fullmatch(about.etag):
        with part.open("rb") as content:
            arrived = hashlib.file_digest(content, "sha256").hexdigest()
        if arrived != about.etag:
            part.unlink()
            raise ModelError(f"{file.name} of {candidate.name} has arrived damaged and was thrown away. Load it again.")
    part.replace(blobs / about.etag)


def _transfer(url: str, part: Path, size: int, count: _Count) -> None:
    for attempts_left in reversed(range(ATTEMPTS)):
        try:
            _stream(url, part, size, count)
            return
        except (httpx2.TimeoutException, httpx2.NetworkError, httpx2.RemoteProtocolError):
            if not attempts_left:
                raise
            log.warning("The download of %s broke off and goes on", url, exc_info=True)


def _stream(url: str, part: Path, size: int, count: _Count) -> None:
    from huggingface_hub import constants, get_session
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

    there = part.stat().st_size if part.exists() else 0
    arrived = there if there <= size else 0
    count.of_this_file(arrived)
    if arrived == size:
        return
    headers = {**build_hf_headers(token=token()), "Accept-Encoding": "identity"}
    if arrived:
        headers["Range"] = f"bytes={arrived}-"
    patience = constants.HF_HUB_DOWNLOAD_TIMEOUT
    with get_session().stream("GET", url, headers=headers, timeout=patience) as response:
        hf_raise_for_status(response)
        arrived = arrived if response.status_code == 206 else 0
        with part.open("ab" if arrived else "wb") as content:
            for chunk in response.iter_bytes():  # as they come: chunks of a given size are lost when the line breaks
                content.write(chunk)
                arrived += len(chunk)
                count.of_this_file(arrived)
    if arrived != size:
        raise httpx2.RemoteProtocolError(f"{arrived} of {size} bytes have arrived")
