"""What torch's operations do element by element, as provenance.ElementwiseStep records it."""

import operator
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention import inside_torch

aten = torch.ops.aten
PRODUCTS = {aten.bmm.default: 0, aten.mm.default: 0, aten.baddbmm.default: 1, aten.addmm.default: 1}
"""Products of matrices, and the number of the argument at which their factors begin."""
OF_FUSED = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale")
"""The arguments of fused kernels that decide what is computed."""

EXPONENTIALS = (aten.exp.default, aten.exp_.default)


class OperationEffect(NamedTuple):
    """Operation, operand and scalar of a provenance.ElementwiseStep; "bounded" is "same" or "changed"."""

    operation: str
    operand: Any = None
    scalar: Any = None


def _times(index: int, args: Sequence[Any], kwargs: dict[str, Any]) -> OperationEffect:
    return OperationEffect("times", args[1 - index])


def _divided(index: int, args: Sequence[Any], kwargs: dict[str, Any]) -> OperationEffect:
    return OperationEffect("divided", args[1]) if index == 0 else OperationEffect("changed")


def _plus(index: int, args: Sequence[Any], kwargs: dict[str, Any]) -> OperationEffect:
    alpha = kwargs.get("alpha", args[2] if len(args) > 2 else 1)
    return OperationEffect("plus", args[1 - index], alpha) if index == 0 or alpha == 1 else OperationEffect("changed")


def _minus(index: int, args: Sequence[Any], kwargs: dict[str, Any]) -> OperationEffect:
    effect = _plus(0, args, kwargs)
    return effect._replace(scalar=-effect.scalar) if index == 0 else OperationEffect("changed")


def _fill(index: int, args: Sequence[Any], kwargs: dict[str, Any]) -> OperationEffect:
    return OperationEffect("fill", args[1], float(args[2])) if index == 0 else OperationEffect("changed")


def _choose(index: int, args: Sequence[Any], kwargs: dict[str, Any]) -> OperationEffect:
    if not index or (number := _number(args[3 - index])) is None:
        return OperationEffect("changed")
    return OperationEffect("fill", args[0] if index == 2 else ~args[0], number)


STEPS: dict[Any, Callable[[int, Sequence[Any], dict[str, Any]], OperationEffect]] = {
    **dict.fromkeys((aten.mul.Tensor, aten.mul.Scalar, aten.mul_.Tensor, aten.mul_.Scalar), _times),
    **dict.fromkeys((aten.div.Tensor, aten.div.Scalar, aten.div_.Tensor, aten.div_.Scalar), _divided),
    **dict.fromkeys((aten.add.Tensor, aten.add.Scalar, aten.add_.Tensor, aten.add_.Scalar), _plus),
    **dict.fromkeys((aten.sub.Tensor, aten.sub.Scalar, aten.sub_.Tensor, aten.sub_.Scalar), _minus),
    **dict.fromkeys((aten.masked_fill.Scalar, aten.masked_fill_.Scalar), _fill),
    **dict.fromkeys((aten.masked_fill.Tensor, aten.masked_fill_.Tensor), _fill),
    **dict.fromkeys((aten.where.self, aten.where.ScalarOther, aten.where.ScalarSelf), _choose),
    **dict.fromkeys((aten.tanh.default, aten.tanh_.default), lambda *_: OperationEffect("tanh")),
    **dict.fromkeys(inside_torch.COPIES, lambda *_: OperationEffect("same")),
    aten.native_dropout.default: lambda index, args, kwargs: OperationEffect("dropout", None, args[1]),
    **dict.fromkeys(
        (aten.nan_to_num.default, aten.clamp.default, aten.clamp_min.default), lambda *_: OperationEffect("bounded")
    ),
    aten.relu.default: lambda *_: OperationEffect("changed"),
    **dict.fromkeys(EXPONENTIALS, lambda *_: OperationEffect("exp")),
    aten._log_softmax.default: lambda *_: OperationEffect("shift"),
}
"""What is done element by element: (which argument is followed, arguments, named arguments) -> the step."""


def is_plain(tensor: Any) -> bool:
    """Return whether this is a tensor of numbers that lie where its strides say."""
    if type(tensor) not in (Tensor, nn.Parameter) or inside_torch.is_transformed(tensor):
        return False
    return tensor.layout == torch.strided and tensor.device.type != "meta"


class Operand(NamedTuple):
    """A plain tensor of numbers among the arguments of an operation, also in a list, and in which storage it lies."""

    tensor: Tensor
    storage: int


def operands_of(args: Sequence[Any]) -> list[Operand]:
    """Return the operands of an operation, for all who follow numbers."""
    flat = chain.from_iterable(argument if isinstance(argument, list | tuple) else (argument,) for argument in args)
    plain = (
        argument for argument in flat if is_plain(argument) and (argument.is_floating_point() or argument.is_complex())
    )
    return [Operand(argument, inside_torch.storage_of(argument)) for argument in plain]


@cache
def is_view(func: Any) -> bool:
    """Return whether an operation only looks at the numbers of a tensor in another way."""
    return bool(getattr(func, "is_view", False)) or func in inside_torch.UNDECLARED_VIEWS


@cache
def is_composite(func: Any) -> bool:
    """Return whether an operation is made of others everywhere, which in inference mode are not seen by themselves."""
    return hasattr(func, "decompose") and inside_torch.is_composite_only(func)


def with_numbers_as_tensors(func: Any, args: Sequence[Any]) -> list[Any] | None:
    """Return arguments with tensors where a script passed plain numbers; None where it passed none."""
    types = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
    takes_tensor = inside_torch.takes_tensors(func)
    if takes_tensor is None:
        return None
    converted = [
        torch.tensor(argument, dtype=types[type(argument)]) if is_tensor and type(argument) in types else argument
        for argument, is_tensor in zip(args, takes_tensor, strict=False)
    ]
    return None if all(map(operator.is_, converted, args)) else converted


def _number(operand: Any) -> float | None:
    if not isinstance(operand, Tensor):
        return float(operand)
    if operand.numel() == 0:
        return None
    first = operand[(0,) * operand.ndim]
    repeats = not any(n > 1 and step for n, step in zip(operand.shape, operand.stride(), strict=True))
    return float(first) if repeats or bool((operand == first).all()) else None
