"""What the project needs of torch's inside; its test says what an upgrade has moved."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from copy import copy
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode as TorchDispatchMode
from torch.utils._python_dispatch import _disable_current_modes

Module = TypeVar("Module", bound=nn.Module)
Value = TypeVar("Value")
_aten = torch.ops.aten
FUSED_ON_CPU = _aten._scaled_dot_product_flash_attention_for_cpu
FUSED = {
    FUSED_ON_CPU.default,
    _aten._scaled_dot_product_flash_attention.default,
    _aten._scaled_dot_product_efficient_attention.default,
    _aten._scaled_dot_product_cudnn_attention.default,
}  # kernels of fused attention, as scripts and transforms call them
SOFTMAXES = {_aten._softmax.default, _aten._safe_softmax.default}
COPIES = (_aten.clone.default, _aten._to_copy.default)
UNDECLARED_VIEWS = {_aten._unsafe_view.default, _aten.detach.default}  # views that do not say that they are
PRETENDED = ("torch._subclasses", "torch.fx")  # modules of tensors without numbers, as while a model is exported
COMPILER = "torch._dynamo"


class FusedInputs(TorchDispatchMode):
    """Notes the arguments of the last fused attention inside the block, which has to be in inference mode.

    Elsewhere torch takes the call apart before a mode sees it.
    """

    inputs: dict[str, Any]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is _aten.scaled_dot_product_attention.default:
            self.inputs = {"query": args[0], "key": args[1], "value": args[2], "attn_mask": (*args, None)[3]}
        return func(*args, **(kwargs or {}))


class StorageMap(Generic[Value]):
    """Values by the storages of tensors; as long as one is in here, no other storage gets its number."""

    def __init__(self) -> None:
        self._entries: dict[Any, tuple[StorageWeakRef, Value]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: Any) -> Value | None:
        """Return the value of a storage, by its number or the key under which it was put; None where it has none."""
        entry = self._entries.get(key)
        return entry and entry[1]

    def put(self, tensor: Tensor, value: Value, key: Any = None) -> Value:
        """Store and return the value of a tensor's storage; a key stands for a part of it."""
        self._entries[storage_of(tensor) if key is None else key] = StorageWeakRef(tensor.untyped_storage()), value
        return value

    def remove(self, tensor: Tensor) -> None:
        self._entries.pop(storage_of(tensor), None)

    def drop_expired(self) -> None:
        """Remove the values of storages that are gone."""
        for key in [key for key, (storage, _) in self._entries.items() if storage.expired()]:
            del self._entries[key]


def is_transformed(value: Any) -> bool:
    """Return whether this is a tensor inside a transform such as vmap, which stands for a batch of others."""
    return isinstance(value, Tensor) and torch._C._functorch.is_functorch_wrapped_tensor(value)


def is_composite_only(operation: Any) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(operation.name(), "CompositeImplicitAutograd"))


def argument_names(operation: Any) -> list[str]:
    return [argument.name for argument in operation._schema.arguments]


def takes_tensors(operation: Any) -> list[bool] | None:
    """Return which arguments of an operation are tensors; None where it does not say."""
    schema = getattr(operation, "_schema", None)
    return None if schema is None else [isinstance(argument.type, torch.TensorType) for argument in schema.arguments]


def overwrites_argument(operation: Any) -> bool | None:
    """Return whether an operation overwrites an argument; None where it does not say."""
    schema = getattr(operation, "_schema", None)
    return None if schema is None else bool(schema.is_mutable)


def is_only_mode(mode: TorchDispatchMode) -> bool:
    return torch._C._len_torch_dispatch_stack() == 1 and torch._C._get_dispatch_stack_at(0) is mode


def pop_modes(is_done: Callable[[Any], bool]) -> None:
    """Take off the modes of this thread that are done, as far as they lie on top of the others."""
    for count, at in (
        (torch._C._len_torch_dispatch_stack, torch._C._get_dispatch_stack_at),
        (torch._C._len_torch_function_stack, torch._C._get_function_stack_at),
    ):
        while (n := count()) and is_done(mode := at(n - 1)):
            mode.__exit__(None, None, None)


def unseen_operations() -> AbstractContextManager[Any]:
    """Return a block in which no mode sees operations; for plain tensors, and where one mode watches alone."""
    return torch._C._DisableTorchDispatch()


def unseen() -> ExitStack:
    """Return a block in which no mode sees functions or operations."""
    block = ExitStack()
    block.enter_context(_disable_current_modes() if torch._C._len_torch_dispatch_stack() else nullcontext())
    block.enter_context(torch._C.DisableTorchFunction())
    return block


def computes_gradients() -> bool:
    return torch._C._current_graph_task_id() >= 0


def is_jit_tracing() -> bool:
    return bool(torch._C._get_tracing_state())


def version_of(tensor: Tensor) -> int:
    """Return how often a tensor's numbers were changed in place; 0 where torch does not count."""
    return 0 if tensor.is_inference() else tensor._version


def with_buffers(module: Module, **buffers: Tensor) -> Module:
    """Return a module that shares everything with this one but these buffers."""
    sharing = copy(module)
    sharing._buffers = {**module._buffers, **buffers}
    return sharing


def storage_of(tensor: Tensor) -> int:
    """Return a number that differs between all storages in use."""
    return tensor.untyped_storage()._cdata
