"""What queries and keys were made of: one tensor or two, and whether positions turned them.

A layer that was learned, such as a projection, tells of its result which tensor it was given; so do all later results
until an attention. Where two come together, as in a residual stream, the later one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention_core.attention.capture.operations import PRODUCTS, Operand, is_plain
from attention_core.attention.inside_torch import FUSED, StorageMap, storage_of
from attention_core.attention.trace import AttentionTrace

aten = torch.ops.aten
TIMES = {aten.mul.Tensor, aten.mul_.Tensor}
SUMS = {aten.add.Tensor, aten.add_.Tensor, aten.sub.Tensor, aten.sub_.Tensor}
SUMS_OF_PRODUCTS = {aten.addcmul.default, aten.addcmul_.default}


class Sides(NamedTuple):
    """What is known of the queries and the keys of a call."""

    crosses: bool | None = None  # whether they come from two tensors; None = not known
    are_rotated: bool = False  # whether rotary positions were seen to turn both

    def annotate(self, traces: Sequence[AttentionTrace]) -> list[AttentionTrace]:
        """Return traces that tell it."""
        return [trace.with_story(crosses=self.crosses, are_rotated=self.are_rotated) for trace in traces]


@dataclass(frozen=True)
class _Source:
    number: int  # of the tensor that a learned layer was given; a later one has a higher number
    is_mixed: bool = False  # whether it is a product of two tensors, such as scores, from which no layer follows
    is_scaled: bool = False  # whether it was multiplied by numbers that come from elsewhere, such as cosines
    is_rotated: bool = False  # whether two such products were added, which turns pairs of numbers

    def after(self, func: Any, sources: Sequence[_Source], n_operands: int, is_complex: bool) -> _Source:
        """Return the source with what an operation on tensors, of which these sources are known, did to it."""
        alike = all(source.number == self.number for source in sources)
        scaled = alike and all(source.is_scaled for source in sources)
        rotated = alike and any(source.is_rotated for source in sources)
        if func in TIMES and len(sources) == 1 and n_operands == 2:
            return replace(self, is_scaled=True, is_rotated=rotated or is_complex)
        is_sum = scaled if func in SUMS else func in SUMS_OF_PRODUCTS and alike and sources[0].is_scaled
        if is_sum and len(sources) > 1:
            return replace(self, is_scaled=False, is_rotated=True)
        return replace(self, is_scaled=scaled, is_rotated=rotated)


class Sources:
    """The sources of tensors, by the storages in which they are."""

    def __init__(self, is_learned: Callable[[Tensor], bool]) -> None:
        self._is_learned = is_learned
        self._sources = StorageMap[_Source]()
        self._numbers = count()

    def sides(self, query: Any, key: Any) -> Sides:
        if not is_plain(query) or not is_plain(key):
            return Sides()
        first, second = self._source(query), self._source(key)
        crosses = None if first.is_mixed or second.is_mixed else first.number != second.number
        return Sides(crosses, first.is_rotated and second.is_rotated)

    def see(self, func: Any, operands: Sequence[Operand], result: Tensor) -> None:
        """Follow sources through an operation."""
        activations = [operand for operand in operands if not self._is_learned(operand.tensor)]
        if len(activations) > 1 and (func in PRODUCTS or func in FUSED):
            self._sources.put(result, _Source(next(self._numbers), is_mixed=True))
        elif sources := [source for operand in activations if (source := self._sources.find(operand.storage))]:
            latest = max(sources, key=lambda source: source.number)
            self._sources.put(result, latest.after(func, sources, len(activations), result.is_complex()))
        elif len(activations) == 1 < len(operands):
            self.layer(activations[0].tensor, result)

    def layer(self, tensor: Any, result: Any) -> None:
        """Note that a learned layer was given a tensor and put out another one."""
        if is_plain(tensor) and is_plain(result):
            self._sources.drop_expired()
            self._sources.put(result, _Source(self._source(tensor).number))

    def _source(self, tensor: Tensor) -> _Source:
        """Return the source of a tensor, which is itself where nothing is known of it."""
        view = storage_of(tensor), int(tensor.storage_offset()), tensor.numel()
        source = self._sources.find(storage_of(tensor)) or self._sources.find(view)
        return source or self._sources.put(tensor, _Source(next(self._numbers)), view)
