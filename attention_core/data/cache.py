"""Results that take minutes to make, kept between runs under the names of what they were made from."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from attention_core.arrays import FileError, read_npz
from attention_core.log import log

FOLDER = Path.home() / ".cache" / "attention-explorer"


def cached_arrays(
    name: str, made_from: list[bytes | Path], make: Callable[[], dict[str, np.ndarray]], folder: Path = FOLDER
) -> dict[str, np.ndarray]:
    """Return make()'s arrays, from the cache if they were made from exactly these inputs before.

    They are made from bytes and from source files whose content counts; `name` begins the file's name. Where the folder
    cannot be written, nothing is kept.
    """
    digest = hashlib.sha256()
    for part in made_from:
        content = part.read_bytes() if isinstance(part, Path) else part
        digest.update(len(content).to_bytes(8, "big") + content)
    path = folder / f"{name}-{digest.hexdigest()[:16]}.npz"
    try:
        return read_npz(path)
    except FileError:
        if path.exists():
            log.warning("%s is made again", path, exc_info=True)
    arrays = make()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".new").open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        path.with_suffix(".new").replace(path)
    except OSError:
        log.warning("%s cannot be kept", path, exc_info=True)
    return arrays
