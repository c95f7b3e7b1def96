"""How large a model may be here: the owner's bound, the memory that is free, and whose machine this is."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from attention_core.bounds import MODEL_BYTES
from attention_core.device import choose_device
from attention_core.hub.model import ModelError

MOST_MEGABYTES = "ATTENTION_MOST_MODEL_MB"
"""The variable that bounds what may be downloaded for one model, in millions of bytes."""
BYTES_PER_NUMBER = 4
SHARE_OF_MEMORY = 0.8
"""Of the free memory, for the weights alone; the rest is for a run."""


class NoMemory(ModelError):
    """A model, or a run of it, that is too large for the memory that is free now."""


def most_model_bytes() -> int:
    """Return how many bytes of weights may be downloaded for one model."""
    try:
        return int(max(float(os.environ.get(MOST_MEGABYTES, "")), 0) * 1e6)
    except ValueError:
        return MODEL_BYTES.most


def free_memory(device: str) -> int | None:
    """Return the bytes that are free for a model on a device, by all that bound them; None where nobody tells.

    Those are the device and, since weights are read into the host's memory on their way, the machine and the container.
    """
    known = _of_device(device), _of_machine(), _of_container()
    return min((free for free in known if free is not None), default=None)


def n_parameters_of(n_bytes: int, settings: Mapping[str, Any]) -> int:
    """Return how many numbers a model's weights are, from their bytes and what its config.json says of their type."""
    stored = str(settings.get("dtype") or settings.get("torch_dtype") or "float32")
    return n_bytes // (2 if "16" in stored else 1 if "8" in stored else 4)


def refuse_without_memory(name: str, n_parameters: int, device: str = "") -> None:
    """Make sure that a model's weights fit into the memory of a device, in float32; of the best there is if empty."""
    free, needed = free_memory(choose_device(device or "auto")), n_parameters * BYTES_PER_NUMBER
    if free is not None and needed > SHARE_OF_MEMORY * free:
        raise NoMemory(
            f"The {n_parameters / 1e6:,.1f} million weights of {name} take {in_megabytes(needed)} of memory; "
            f"{in_megabytes(free)} are free."
        )


def in_megabytes(n_bytes: float) -> str:
    """Return a size for people, such as "268 MB" or "1.2 GB"."""
    if n_bytes < 1e9:
        return f"{n_bytes / 1e6:.1f} MB" if n_bytes < 1e7 else f"{n_bytes / 1e6:.0f} MB"
    return f"{n_bytes / 1e9:.1f} GB"


def _of_device(device: str) -> int | None:
    """Return what a GPU has left; memory that torch holds without using it is free for the next model."""
    if device == "cuda":
        return torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
    if device == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.current_allocated_memory()
    return None


def _of_machine() -> int | None:
    with suppress(OSError, ValueError):
        found = re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
        return int(found[1]) * 1024 if found else None
    return None


def _of_container() -> int | None:
    with suppress(OSError, ValueError):
        most, used = (int(Path(f"/sys/fs/cgroup/memory.{name}").read_text()) for name in ("max", "current"))
        return max(0, most - used)
    return None
