"""The hub's cache on disk is bounded: models that nobody uses leave, the least recently used first.

Whoever uses a model holds a lock on its folder, which other processes see too and which ends with the process.
"""

import os
import shutil
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

from attention_core.bounds import HUB_CACHE_BYTES
from attention_core.hub.model import ModelError
from attention_core.hub.room import in_megabytes
from attention_core.log import log

try:
    import fcntl
except ImportError:  # Windows: nothing is known to be out of use, so nothing leaves
    fcntl = None  # type: ignore[assignment]


def keep(stored: Path, user: object) -> None:
    """Hold a model's folder in the hub's cache, and note that it is used now, as long as this user of it lives."""
    if stored.name.startswith("models--") and (handle := _lock(stored)) is not None:
        weakref.finalize(user, os.close, handle)
        with suppress(OSError):  # a cache that is only read
            os.utime(stored)


@contextmanager
def held(stored: Path) -> Iterator[None]:
    handle = _lock(stored) if stored.name.startswith("models--") else None
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def make_room(cache: Path, name: str, n_bytes: int, coming: Mapping[str, int] = MappingProxyType({})) -> None:
    """Let models leave the hub's cache until n_bytes of the one in the folder `name` are within HUB_CACHE_BYTES.

    What that folder has counts among n_bytes; `coming` are bytes of others that are being fetched, by their folders.
    """
    others = [stored for stored in cache.glob("models--*") if stored.name != name]
    sizes = {
        stored: max(sum(file.stat().st_size for file in stored.glob("blobs/*")), coming.get(stored.name, 0))
        for stored in others
    }
    total = n_bytes + sum(sizes.values())
    for stored in sorted(sizes, key=lambda one: one.stat().st_mtime):
        if total > HUB_CACHE_BYTES.most and (handle := _lock(stored, alone=True)) is not None:
            log.info("%s leaves the hub's cache: %s", stored.name, in_megabytes(sizes[stored]))
            shutil.rmtree(stored, ignore_errors=True)
            os.close(handle)
            total -= sizes[stored]
    if total > HUB_CACHE_BYTES.most:
        raise ModelError(
            f"This server keeps at most {in_megabytes(HUB_CACHE_BYTES.most)} of models, and those that others look at "
            f"now leave no room for {in_megabytes(n_bytes)}. Try again later."
        )


def _lock(stored: Path, alone: bool = False) -> int | None:
    """Return a handle that holds the lock of a folder; None where it is not to be had."""
    if fcntl is None:
        return None
    with suppress(OSError):
        handle = os.open(stored, os.O_RDONLY)
        try:
            fcntl.flock(handle, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            return handle
        except OSError:
            os.close(handle)
    return None
