"""Where tensors live, decided in one place: cuda, else mps, else cpu; and the one way by which they leave as arrays."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention_core.deprecated import renamed_arguments

NO_MEMORY = ("out of memory", "can't allocate memory")
"""What torch says of devices whose lack of memory has no class of its own, MPS and the CPU."""
_LOST: set[str] = set()


@renamed_arguments(wanted="device")
def choose_device(device: str = "auto") -> str:
    """Return "cuda", "mps" or "cpu", always spelled alike so that caches see one key; "auto" = the first there is.

    ValueError for a device that this machine does not have, or a name that is none.
    """
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    available |= dict.fromkeys(_LOST, False)
    if device == "auto":
        return next(name for name, is_available in available.items() if is_available)
    if device not in available:
        raise ValueError(f"device must be auto, cuda, mps or cpu, got {device!r}")
    if not available[device]:
        raise ValueError(f"No {device} device on this machine. Use --device cpu, or auto to take the best there is.")
    return device


def lacks_memory(error: BaseException) -> bool:
    """Return whether an error says that a device, or the machine, has no memory left."""
    has_sentence = any(sentence in str(error) for sentence in NO_MEMORY)
    return has_sentence or isinstance(error, MemoryError | torch.OutOfMemoryError)


def computes(device: str) -> bool:
    """Return whether a device still answers; a GPU that has met a fault may not until the process ends."""
    try:
        return float(torch.ones(1, device=device).sum()) == 1
    except (RuntimeError, AssertionError):
        return False


def disable_device(device: str) -> None:
    """Choose a device no more, as long as this process lives."""
    _LOST.add(device)


def describe_device(device: str) -> str:
    """Return a few words for people, such as "CPU, 2 threads" or "NVIDIA L4"."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    if device == "mps":
        return "Apple GPU"
    return f"CPU, {torch.get_num_threads()} thread" + "s" * (torch.get_num_threads() > 1)


@contextmanager
def single_thread() -> Iterator[None]:
    """Let torch compute on the calling thread alone inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def device_of(model: Any) -> torch.device:
    """Return where a model's parameters lie."""
    return next(model.parameters()).device


def to_array(tensor: Tensor) -> np.ndarray:
    """Return a tensor as a numpy array, wherever it lies and whether or not it learns; half precision as float32."""
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor).numpy()
