"""How large a model may be here: the owner's bound, the memory that is free, and whose machine this is."""

from __future__ import annotations

import os
from pathlib import Path

MOST_MEGABYTES = "ATTENTION_MOST_MODEL_MB"
"""The variable that bounds what may be downloaded for one model, in millions of bytes."""
HOSTED = "ATTENTION_HOSTED"
"""The variable that says "1" where the app runs for the public, "0" where it runs for its owner alone."""
OWN_BOUND, HOSTED_BOUND = 2_000, 600
BYTES_PER_NUMBER = 4
SHARE_OF_MEMORY = 0.8
"""Of the free memory, for the weights alone; the rest is for a run."""


def is_hosted() -> bool:
    """Return whether the owner has said that the app runs for the public."""
    return os.environ.get(HOSTED, "") == "1"


def most_model_bytes() -> int:
    """Return how many bytes of weights may be downloaded for one model."""
    try:
        megabytes = float(os.environ.get(MOST_MEGABYTES, ""))
    except ValueError:
        megabytes = HOSTED_BOUND if is_hosted() else OWN_BOUND
    return int(max(megabytes, 0) * 1e6)


def free_memory() -> int | None:
    """Return the bytes of memory that are free, by the machine and by the container; None where nobody tells."""
    known = [one for one in (_of_machine(), _of_container()) if one is not None]
    return min(known) if known else None


def in_megabytes(n_bytes: float) -> str:
    """Return a size for people, such as "268 MB" or "1.2 GB"."""
    if n_bytes < 1e9:
        return f"{n_bytes / 1e6:.1f} MB" if n_bytes < 1e7 else f"{n_bytes / 1e6:.0f} MB"
    return f"{n_bytes / 1e9:.1f} GB"


def _of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _of_container() -> int | None:
    group = Path("/sys/fs/cgroup")
    try:
        most = int((group / "memory.max").read_text(encoding="ascii"))
        return max(0, most - int((group / "memory.current").read_text(encoding="ascii")))
    except (OSError, ValueError):
        return None
