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
from attention_core.attention.inside_torch import StorageMap

aten = torch.ops.aten
ADDS_BY_INDEX = {
    *(aten.scatter_add, aten.scatter_add_, aten.scatter_reduce, aten.scatter_reduce_, aten.index_add, aten.index_add_),
    *(aten.index_put, aten.index_put_, aten._index_put_impl_, aten.index_reduce, aten.segment_reduce),
}
SUMS = {aten.sum}
DIVIDES = {aten.div, aten.div_}
MULTIPLIES = {aten.mul, aten.mul_}
EXPONENTIAL, PARTIAL_SUM, SUM, SHARE, WEIGHED = range(5)
"""What numbers are: exponentials, sums of some, sums by index, shares of these sums, values times their shares."""


class _EdgeState(NamedTuple):
    stage: int
    modules: tuple[nn.Module, ...] = ()  # that ran when the shares were made


class Edges:
    """What tensors are on the way to attention over edges, by the storages in which they are."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._states = StorageMap[_EdgeState]()

    def see(self, func: Any, operands: Sequence[Operand], result: Tensor) -> None:
        states = [self._states.find(operand.storage) for operand in operands]
        if not any(states) and func not in EXPONENTIALS:
            return
        if after := self._after(func, operands, states):
            self._states.drop_expired()
            self._states.put(result, after)

    def _after(self, func: Any, operands: Sequence[Operand], states: Sequence[_EdgeState | None]) -> _EdgeState | None:
        operation, modules = getattr(func, "overloadpacket", None), self._recorder.stack.modules
        latest = max(filter(None, states), default=_EdgeState(EXPONENTIAL), key=lambda state: state.stage)
        stages = [state.stage if state else None for state in states]
        if operation in ADDS_BY_INDEX or operation in SUMS:
            if latest.stage == WEIGHED:
                return self._record(latest.modules)
            stage = SUM if operation in ADDS_BY_INDEX else max(PARTIAL_SUM, latest.stage)
            return latest._replace(stage=stage) if latest.stage < SHARE else None
        if operation is aten.copy_ and latest.stage == PARTIAL_SUM and _is_partial_view(operands[0].tensor):
            return _EdgeState(SUM)  # one row after another, in a loop
        if operation in DIVIDES and stages[1:] == [SUM]:
            return self._record(modules) if stages[0] == SUM else _EdgeState(SHARE, modules)
        if func in EXPONENTIALS:  # of scores less the logarithms of such sums
            return _EdgeState(SHARE, modules) if latest.stage == SUM else _EdgeState(EXPONENTIAL)
        if latest.stage == SHARE and (operation in MULTIPLIES or func in PRODUCTS) and None in stages:
            return latest._replace(stage=WEIGHED)
        return latest

    def _record(self, modules: tuple[nn.Module, ...]) -> _EdgeState | None:
        self._recorder.note_edges(modules)
        return None


def _is_partial_view(tensor: Tensor) -> bool:
    """Return whether a tensor is a part of what its storage holds."""
    return tensor.numel() * tensor.element_size() < tensor.untyped_storage().nbytes()
