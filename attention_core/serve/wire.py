"""What travels between an app and the models' deployment: names, plain values and tensors; never code.

A function travels as its name. A tensor travels as the numbers that it shows: not the storage that it is a view of,
and not what only repeats along a dimension. A loaded model, or a part of it, travels as its name, and whoever receives
it takes it from a model of the same name. So a trace travels as what it keeps: query, key, value, normaliser, masks.
"""

import io
import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from attention_core.device import choose_device

PACKAGES = ("attention_core",)  # packages whose functions may be asked for and whose classes may be built
PLAIN = {
    "builtins": {"ValueError", "bytearray", "complex", "frozenset", "range", "set", "slice"},
    "collections": {"Counter", "OrderedDict", "defaultdict", "deque"},
    "functools": {"partial"},
    "numpy": {"dtype", "ndarray"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "torch": {"Size"},
}
ModelOf = Callable[[str], nn.Module]


def pack(value: Any) -> bytes:
    file = io.BytesIO()
    _Packer(file, protocol=5).dump(value)
    return file.getvalue()


def unpack(packed: bytes, model_of: ModelOf) -> Any:
    """Return the value that pack() made these bytes of; tensors of a GPU there lie on the best device here.

    model_of returns the loaded model of a name. A pickle.UnpicklingError where the bytes name what is neither ours nor
    plain, or are no value at all.
    """
    return _Unpacker(io.BytesIO(packed), model_of).load()


def function_name(function: Callable[..., Any]) -> str:
    """Return the name by which function_of finds a function."""
    return f"{function.__module__}:{function.__qualname__}"


def function_of(name: str) -> Callable[..., Any]:
    """Return the function of a name; a pickle.UnpicklingError where it is none of ours."""
    module, _, path = name.partition(":")
    return _ours(module, path)


def is_ours(module: str) -> bool:
    """Return whether functions and classes of a module may be asked for by name."""
    return module.partition(".")[0] in PACKAGES


def _ours(module: str, path: str) -> Any:
    if not is_ours(module):
        raise pickle.UnpicklingError(f"{module}.{path} is not of this project")
    value = import_module(module)
    for name in path.split("."):
        value = getattr(value, name)
    if not is_ours(getattr(value, "__module__", "")):  # what one of our modules has imported
        raise pickle.UnpicklingError(f"{module}.{path} is not of this project")
    return value


def _tensor(numbers: bytearray, dtype: str, stored: tuple[int, ...], shape: tuple[int, ...], on_cpu: bool) -> Tensor:
    torch_dtype = getattr(torch, dtype)
    flat = torch.frombuffer(numbers, dtype=torch_dtype) if numbers else torch.empty(0, dtype=torch_dtype)
    return flat.to("cpu" if on_cpu else choose_device()).reshape(stored).expand(shape)


class _Packer(pickle.Pickler):
    def persistent_id(self, value: Any) -> Any:
        return getattr(value, "origin", None) if isinstance(value, Tensor | nn.Module) else None

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return NotImplemented
        stored = value.detach()
        for dimension, (size, stride) in enumerate(zip(stored.shape, stored.stride(), strict=True)):
            if stride == 0 and size:
                stored = stored.narrow(dimension, 0, 1)
        numbers = bytearray(stored.cpu().contiguous().flatten().view(torch.uint8).numpy().data)
        shapes = tuple(stored.shape), tuple(value.shape)
        return _tensor, (numbers, str(value.dtype)[6:], *shapes, value.device.type == "cpu")


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, model_of: ModelOf) -> None:
        super().__init__(file)
        self._model_of = model_of

    def find_class(self, module: str, name: str) -> Any:
        if name in PLAIN.get(module, ()) or (module == "torch" and isinstance(getattr(torch, name, 0), torch.dtype)):
            return super().find_class(module, name)
        return _ours(module, name)

    def persistent_load(self, origin: tuple[str, str]) -> Any:
        name, path = origin
        value: Any = self._model_of(name)
        for attribute in path.split(".") if path else ():
            value = getattr(value, attribute)
        return value
