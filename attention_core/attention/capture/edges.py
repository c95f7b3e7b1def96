"""Notices attention over the edges of a graph: a softmax whose sums, and whose weighted values, are added by index.

Exponentials are added up by index, the sums are taken back to the edges, the exponentials divided by them, and the
values that these shares weigh are added up by index again. It is noted as missed, under the name of its module.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.capture.operations import EXPONENTIALS, PRODUCTS, Operand
from attention_core.attention.capture.recorder import Recorder
from attention_core.attention.inside_torch import StorageWeakRef, storage_of

aten = torch.ops.aten
ADDS_BY_INDEX = {
    *(aten.scatter_add, aten.scatter_add_, aten.scatter_reduce, aten.scatter_reduce_, aten.index_add, aten.index_add_),
    *(aten.index_put, aten.index_put_, aten._index_put_impl_, aten.index_reduce, aten.segment_reduce),
}
SUMS = {aten.sum}
DIVIDES = {aten.div, aten.div_}
MULTIPLIES = {aten.mul, aten.mul_}
EXPONENTIAL, PART, SUM, SHARE, WEIGHED = range(5)
"""What numbers are: exponentials, sums of some, sums by index, shares of these sums, values times their shares."""


class _Known(NamedTuple):
    stage: int
    modules: tuple[nn.Module, ...] = ()  # that ran when the shares were made


class Edges:
    """What tensors are on the way to attention over edges, by the storages in which they are."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._of: dict[int, tuple[StorageWeakRef, _Known]] = {}

    def see(self, func: Any, operands: Sequence[Operand], result: Tensor) -> None:
        known = [self._of[one.storage][1] if one.storage in self._of else None for one in operands]
        if not any(known) and func not in EXPONENTIALS:
            return
        if after := self._after(func, operands, known):
            for expired in [number for number, (storage, _) in self._of.items() if storage.expired()]:
                del self._of[expired]
            self._of[storage_of(result)] = StorageWeakRef(result.untyped_storage()), after

    def _after(self, func: Any, operands: Sequence[Operand], known: Sequence[_Known | None]) -> _Known | None:
        kind, modules = getattr(func, "overloadpacket", None), self._recorder.stack.modules
        now = max(filter(None, known), default=_Known(EXPONENTIAL), key=lambda one: one.stage)
        stages = [one.stage if one else None for one in known]
        if kind in ADDS_BY_INDEX or kind in SUMS:
            if now.stage == WEIGHED:
                return self._found(now.modules)
            return (
                now._replace(stage=SUM if kind in ADDS_BY_INDEX else max(PART, now.stage))
                if now.stage < SHARE
                else None
            )
        if (
            kind is aten.copy_ and now.stage == PART and _is_part(operands[0].tensor)
        ):  # one row after another, in a loop
            return _Known(SUM)
        if kind in DIVIDES and stages[1:] == [SUM]:
            return self._found(modules) if stages[0] == SUM else _Known(SHARE, modules)
        if func in EXPONENTIALS:  # of scores less the logarithms of such sums
            return _Known(SHARE, modules) if now.stage == SUM else _Known(EXPONENTIAL)
        if now.stage == SHARE and (kind in MULTIPLIES or func in PRODUCTS) and None in stages:
            return now._replace(stage=WEIGHED)
        return now

    def _found(self, modules: tuple[nn.Module, ...]) -> _Known | None:
        self._recorder.note_edges(modules)
        return None


def _is_part(tensor: Tensor) -> bool:
    """Return whether a tensor is a part of what its storage holds."""
    return tensor.numel() * tensor.element_size() < tensor.untyped_storage().nbytes()
