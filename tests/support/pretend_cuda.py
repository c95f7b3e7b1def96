"""A pretend GPU for a machine that has none, so that faults between devices show in tests.

    from tests.support.pretend_cuda import pretend_cuda
    pretend_cuda()  # once per process, which it cannot leave again: "auto" now means "cuda"

A tensor that was moved to the pretend GPU is a plain tensor with a mark. One mode of PyTorch, entered in every thread,
sees each call: it hands marks on to results, answers "cuda:0" where the device of a marked tensor is asked for, and
refuses what a real GPU would refuse. Autograd, views and modules work as ever, because the tensors are real ones.
It says nothing about memory, speed, or the last digits of results, and does not look into operators written in C++.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

READS_NUMBERS = {"numpy", "__array__"}
MIXES = {"copy_", "backward", "grad", "result_type", "view_as", "expand_as", "reshape_as", "new_tensor", "__getitem__"}
MIXES |= {"_has_compatible_shallow_copy_type", "is_same_size"}
"""Calls that take tensors of two devices on a real GPU too; what they return is where the first one is."""
JOINS = {"cat", "concat", "stack", "hstack", "vstack", "matmul", "mm", "bmm", "linear", "embedding", "index_select"}
JOINS |= {"gather", "scatter", "take_along_dim"}
"""Calls that refuse even a single number from the CPU, which arithmetic would take."""
RECURRENT = {"gru", "lstm", "rnn_tanh", "rnn_relu", "_pad_packed_sequence"}
"""Calls whose lengths of packed sequences stay on the CPU."""
CPU_ONLY = {"histogram", "histogramdd", "apply_", "map_", "map2_"}


class Generator(torch.Generator):
    """Random numbers for one device: a real generator for the CPU that may say that it is for the GPU."""

    def __new__(cls, device: Any = "cpu") -> Generator:
        made = super().__new__(cls)
        made.on = torch.device(device)
        return made

    @property
    def device(self) -> torch.device:
        return self.on


class PretendGpu(TorchFunctionMode):
    """Marks what is on the GPU, and refuses what a GPU would refuse."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.device = torch.device(kind, 0)

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        name, kwargs = func.__name__.removesuffix(".default"), dict(kwargs or {})
        if name == "__get__":
            return self._read(func, args[0])
        if name == "__set__":
            done = func(*args)
            if func.__self__.__name__ == "data":
                mark(args[0], is_marked(args[1]))
            return done
        if name in ("to", "cpu", "cuda", "type_as"):
            return self._move(name, func, args, kwargs)
        given = list(tensors_in((args, kwargs)))
        here = any(map(is_marked, given[:1] if name in MIXES else given))
        if kwargs.get("device") is not None:
            here = self._is_here(kwargs["device"])
        self._refuse(name, args, kwargs, given, here)
        if here and kwargs.get("device") is not None:
            kwargs["device"] = "cpu"
        return self._marked(name, func(*args, **kwargs), given, here)

    def _read(self, func: Callable, tensor: Tensor) -> Any:
        """Return an attribute of a tensor."""
        attribute = func.__self__.__name__
        if is_marked(tensor) and attribute == "device":
            return self.device
        if is_marked(tensor) and attribute in ("is_cpu", "is_cuda", "is_mps"):
            return attribute == f"is_{self.device.type}"
        value = func(tensor)
        return mark(value, is_marked(tensor)) if isinstance(value, Tensor) else value

    def _move(self, name: str, func: Callable, args: tuple, kwargs: dict) -> Tensor:
        """Return what Tensor.to, cpu or cuda returns: another tensor where the device changes."""
        tensor, *rest = args
        here = name == "cuda" or (name != "cpu" and is_marked(tensor))
        for one in (*rest, kwargs.get("device"), kwargs.get("other")):
            if isinstance(one, Tensor):
                here = is_marked(one)
            elif isinstance(one, str | torch.device):
                here = self._is_here(one)
        rest = ["cpu" if self._is_here(one) else one for one in rest]
        kwargs = {key: "cpu" if self._is_here(one) else one for key, one in kwargs.items()}
        moved = tensor if name == "cuda" else func(tensor, *rest, **kwargs)
        if here != is_marked(tensor):
            moved = mark(moved.clone() if moved is tensor else moved, here)
        elif moved is not tensor:
            mark(moved, here)
        self._refuse_wide(moved)
        return moved

    def _refuse(self, name: str, args: tuple, kwargs: dict, given: list[Tensor], here: bool) -> None:
        """Raise what a real GPU raises, if this call mixes devices or has no kernel there."""
        if here and name in READS_NUMBERS and not kwargs.get("force"):
            raise TypeError(f"can't convert {self.device} device type tensor to numpy (pretend GPU: {name})")
        generators = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Generator)]
        if any(here != self._is_here(one.device) for one in generators):
            raise RuntimeError(f"Generator on {generators[0].device}, tensor elsewhere (pretend GPU: {name})")
        if name in ("__getitem__", "__setitem__"):
            self._refuse_indices(name, *args)
        elif any(map(is_marked, given)):
            self._refuse_mixture(name, args, given, kwargs.get("device") is not None)

    def _refuse_mixture(self, name: str, args: tuple, given: list[Tensor], names_device: bool) -> None:
        if name in CPU_ONLY or name.endswith("_for_cpu"):
            raise NotImplementedError(f"{name} has no kernel for {self.device} (pretend GPU)")
        if name == "_pack_padded_sequence" and is_marked(args[1]):
            raise RuntimeError(f"lengths must be on the CPU (pretend GPU: {name})")
        if names_device or name in MIXES or name == "_pack_padded_sequence":
            return
        plain = [one for one in given if not is_marked(one) and not (name in RECURRENT and one.dtype == torch.int64)]
        if any(one.ndim or name in JOINS for one in plain):
            shapes = [tuple(one.shape) for one in plain]
            raise RuntimeError(f"Expected all tensors on {self.device}, found CPU ones {shapes} (pretend GPU: {name})")

    def _refuse_indices(self, name: str, target: Tensor, index: Any, value: Any = None) -> None:
        """Raise where indices from the GPU choose in a CPU tensor, or values of another device are put one by one."""
        chosen = [one for one in tensors_in(index) if one.ndim]
        if not is_marked(target) and any(is_marked(one) for one in chosen):
            raise RuntimeError(f"indices should be on the CPU, as the indexed tensor is (pretend GPU: {name})")
        one_by_one = chosen or any(isinstance(one, list) for one in (index if isinstance(index, tuple) else (index,)))
        if one_by_one and isinstance(value, Tensor) and value.ndim and is_marked(value) != is_marked(target):
            raise RuntimeError(f"Index put needs values on the device of the tensor (pretend GPU: {name})")

    def _marked(self, name: str, result: Any, given: list[Tensor], here: bool) -> Any:
        """Return the result of a call with its tensors marked; one that was given keeps the mark it has."""
        made = list(tensors_in(result))
        if name in ("_pack_padded_sequence", "_pad_packed_sequence"):
            made = made[:1]
        for one in made:
            if not any(one is other for other in given):
                mark(one, here)
                self._refuse_wide(one)
            elif here and not is_marked(one) and name in ("as_tensor", "asarray"):
                return mark(one.clone(), here)
        return result

    def _refuse_wide(self, tensor: Tensor) -> None:
        if self.device.type == "mps" and is_marked(tensor) and tensor.dtype in (torch.float64, torch.complex128):
            raise TypeError("MPS has no float64 (pretend GPU)")

    def _is_here(self, device: Any) -> bool:
        return isinstance(device, str | torch.device) and torch.device(device).type == self.device.type


def mark(tensor: Tensor, here: bool) -> Tensor:
    """Say whether a tensor is on the pretend GPU, and return it."""
    tensor.is_on_pretend_gpu = here
    return tensor


def is_marked(tensor: Any) -> bool:
    """Whether a tensor is on the pretend GPU."""
    return getattr(tensor, "is_on_pretend_gpu", False)


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors of nested tuples, lists and dicts."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from tensors_in(one)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def pretend_cuda(kind: str = "cuda") -> None:
    """Let this process have a pretend GPU, from now on and in every thread.

    Args:
        kind: "cuda", or "mps", which has no float64 either.
    """
    mode, run, new = PretendGpu(kind), threading.Thread.run, nn.Parameter.__new__

    def run_in_mode(thread: threading.Thread) -> None:
        with mode:
            run(thread)

    def keep_mark(cls: type, data: Tensor | None = None, requires_grad: bool = True) -> Tensor:
        return mark(new(cls, data, requires_grad), is_marked(data))

    threading.Thread.run = run_in_mode
    nn.Parameter.__new__ = keep_mark  # which the mode does not see
    torch.Generator = Generator
    torch.cuda._lazy_init = torch.cuda.synchronize = lambda *_: None
    torch.backends.cudnn.is_acceptable = lambda *_: False
    torch.cuda.get_device_name = lambda *_: "a pretend GPU"
    torch.cuda.is_available = lambda: kind == "cuda"
    torch.cuda.is_current_stream_capturing = lambda: False
    torch.cuda.mem_get_info = lambda *_: (8 << 30, 8 << 30)
    torch.backends.mps.is_available = lambda: kind == "mps"
    mode.__enter__()
