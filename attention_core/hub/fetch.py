"""Download of a model into the hub's cache: counted in bytes, and gone on with where it broke off."""

from __future__ import annotations

import hashlib
import re
import shutil
import threading
from pathlib import Path

import httpx2

from attention_core.hub.look_up import Candidate, Progress, RemoteFile, token, why
from attention_core.hub.model import ModelError
from attention_core.hub.room import in_megabytes

ATTEMPTS = 4
"""How often a transfer that breaks off is gone on with at once."""
SPARE_BYTES = 200_000_000
"""What is left free on the disk."""
SHA256 = re.compile(r"[0-9a-f]{64}")
_ONE_AT_A_TIME = threading.Lock()


def fetch(candidate: Candidate, progress: Progress | None = None) -> Path:
    """Return the folder of a model, after downloading what is not there yet.

    What has arrived stays: the next call goes on from there, within a file too.

    Args:
        candidate: from look_up.
        progress: called with (bytes that are there, bytes in all) as they arrive, from this thread; an error that it
            raises ends the download and comes through.

    Raises:
        ModelError: no network, no room, no permission, or a file that arrives damaged.
    """
    if candidate.folder is not None:
        return candidate.folder
    with _ONE_AT_A_TIME:
        count = _Count(sum(file.size for file in candidate.files), progress)
        folder: Path | None = None
        for file in candidate.files:
            folder = _file(candidate, file, count).parent
    if folder is None:
        raise ModelError(f"{candidate.name} has no files.")
    return folder


class _Count:
    """Bytes that are there, over all files."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.total, self.done, self._progress = total, 0, progress

    def add(self, n_bytes: int) -> None:
        self.done += n_bytes
        if self._progress is not None:
            self._progress(min(self.done, self.total), self.total)


def _file(candidate: Candidate, file: RemoteFile, count: _Count) -> Path:
    """Return the place of one file in the cache's snapshot."""
    from huggingface_hub import constants, hf_hub_download, try_to_load_from_cache
    from huggingface_hub.utils.tqdm import silent_tqdm

    there = try_to_load_from_cache(candidate.name, file.name, revision=candidate.revision)
    if isinstance(there, str):
        count.add(file.size)
        return Path(there)
    try:
        counted = count.done
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
    except Exception as error:
        if not isinstance(error, httpx2.HTTPError | OSError | ValueError):
            raise
        kept = (
            f" {in_megabytes(count.done)} of {in_megabytes(count.total)} have arrived and stay." if count.done else ""
        )
        raise ModelError(why(candidate.name, error, "fetched") + kept) from error
    count.add(file.size - (count.done - counted))
    return Path(place)


def _blob(candidate: Candidate, file: RemoteFile, count: _Count) -> None:
    """Put the content of a file where the library looks for it before it downloads.

    The library throws an unfinished file away when it is interrupted; here it is kept and gone on with.
    """
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
    _refuse_full_disk(candidate.name, blobs, about.size - (part.stat().st_size if part.exists() else 0))
    _transfer(url, part, about.size, count)
    if SHA256.fullmatch(about.etag):
        with part.open("rb") as content:
            arrived = hashlib.file_digest(content, "sha256").hexdigest()
        if arrived != about.etag:
            part.unlink()
            raise ModelError(f"{file.name} of {candidate.name} has arrived damaged and was thrown away. Load it again.")
    part.replace(blobs / about.etag)


def _transfer(url: str, part: Path, size: int, count: _Count) -> None:
    """Append to an unfinished file what is missing of it."""
    broken: Exception | None = None
    if part.exists():
        count.add(min(part.stat().st_size, size))
    for _ in range(ATTEMPTS):
        try:
            _stream(url, part, size, count)
            return
        except (httpx2.TimeoutException, httpx2.NetworkError, httpx2.RemoteProtocolError) as error:
            broken = error
    raise broken if broken is not None else ModelError("The download broke off.")


def _stream(url: str, part: Path, size: int, count: _Count) -> None:
    from huggingface_hub import constants, get_session
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

    start = part.stat().st_size if part.exists() else 0
    if start > size:
        part.unlink()
        count.add(-size)
        start = 0
    if start == size:
        return
    headers = {**build_hf_headers(token=token()), "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    patience = constants.HF_HUB_DOWNLOAD_TIMEOUT
    with get_session().stream("GET", url, headers=headers, timeout=patience) as response:
        hf_raise_for_status(response)
        goes_on = start > 0 and response.status_code == 206
        if start and not goes_on:
            count.add(-start)
        with part.open("ab" if goes_on else "wb") as content:
            for chunk in response.iter_bytes():  # as they come: chunks of a given size are lost when the line breaks
                content.write(chunk)
                count.add(len(chunk))
    arrived = part.stat().st_size
    if arrived != size:
        raise httpx2.RemoteProtocolError(f"{arrived} of {size} bytes have arrived")


def _refuse_full_disk(name: str, folder: Path, missing: int) -> None:
    free = shutil.disk_usage(folder).free
    if missing + SPARE_BYTES > free:
        raise ModelError(
            f"The disk has no room for {name}: {in_megabytes(missing)} are to come, {in_megabytes(free)} are free and "
            f"{in_megabytes(SPARE_BYTES)} of them are left free."
        )
