"""What becomes of the outputs of attention: which of their axes are heads, and which calls together are one.

Code that computes all items and heads in one axis tells what is what only afterwards, when it puts the heads of a query
in one row for the output projection. So each output is followed until then, through copies and what is done number by
number; outputs that are put together in one tensor were chunks of queries, heads or items of one call.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.attention.capture.layout import Block, Layout, all_items, order_in
from attention_core.attention.capture.operations import Operand, is_plain
from attention_core.attention.capture.recorder import Recorded, Recorder
from attention_core.attention.inside_torch import StorageMap, storage_of

aten = torch.ops.aten
CONCATENATIONS: dict[Any, Callable[..., Tensor]] = {aten.cat.default: Tensor.narrow, aten.stack.default: Tensor.select}
"""Operations that put tensors side by side, or in a new dimension."""
SUMS = {aten.add.Tensor, aten.add_.Tensor, aten.sub.Tensor, aten.sub_.Tensor}
PROJECTIONS = {F.linear, aten.mm.default, aten.addmm.default, aten.convolution.default}
"""What does the same with each row of numbers; what comes of it is not followed."""


@dataclass(frozen=True, eq=False)
class Output:
    """Where the output of an attention lies in a storage: itself, or a copy, or what was computed of it."""

    recorded: Recorded
    block: Block  # (*axes before the queries, query, d)


class Outputs:
    """The outputs that are followed, by the storages in which they are."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._outputs = StorageMap[list[Output]]()

    def follow(self, tensor: Any, outputs: Sequence[Output], is_sum: bool = False) -> None:
        """Follow what lies in a tensor's storage from now on, besides or, unless it is a sum, instead of others."""
        if not is_plain(tensor) or not outputs:
            return
        self._outputs.drop_expired()
        offsets = set() if is_sum else {output.block.offset for output in outputs}
        unaffected = [output for output in self._of(tensor) if output.block.offset not in offsets]
        self._outputs.put(tensor, [*unaffected, *outputs])

    def see(self, func: Any, args: Sequence[Any], operands: Sequence[Operand], result: Any) -> None:
        """Read from an operation what it takes outputs for, and follow them into its result."""
        followed = [operand for operand in operands if self._outputs.find(operand.storage)]
        if followed and func in CONCATENATIONS:
            self._concatenate(func, args[0], args[1] if len(args) > 1 else 0, result)
            return
        for tensor, storage in followed:
            self._read(tensor, func in PROJECTIONS)
            is_alike = is_plain(result) and result.shape == tensor.shape and storage_of(result) != storage
            if is_alike and func not in PROJECTIONS:
                self._move(tensor, self._of(tensor), result, func in SUMS)

    def _of(self, tensor: Tensor) -> list[Output]:
        return self._outputs.find(storage_of(tensor)) or []

    def _move(self, source: Tensor, outputs: Sequence[Output], result: Tensor, is_sum: bool = False) -> None:
        layouts = Layout.of(source), Layout.of(result)
        blocks = [(output, output.block.relocate(*layouts)) for output in outputs]
        self.follow(result, [replace(output, block=block) for output, block in blocks if block], is_sum)

    def _concatenate(self, func: Any, tensors: Sequence[Tensor], dim: int, result: Tensor) -> None:
        start, pairs = 0, []
        for tensor in tensors:
            if tensor.shape == (0,):  # as of a cache that is empty still: it may stand beside any shape
                continue
            size = (tensor.shape[dim],) if func is aten.cat.default else ()
            if is_plain(tensor) and self._of(tensor):
                pairs.append((tensor, CONCATENATIONS[func](result, dim, start, *size)))
            start += sum(size) or 1
        if len(pairs) > 1 and len({storage_of(tensor) for tensor, _ in pairs}) == 1:
            moved = [(output, _of_chunks(output.block, pairs)) for output in self._of(pairs[0][0])]
            self.follow(result, [replace(output, block=block) for output, block in moved if block])
        else:
            for tensor, target in pairs:
                self._move(tensor, self._of(tensor), target)

    def _read(self, tensor: Tensor, is_projection: bool) -> None:
        layout, outputs = Layout.of(tensor), self._of(tensor)
        if len(outputs) > 1 and (joint := self._joint_axis(outputs, layout)):
            axis_name, outputs = joint[0], [outputs[number] for number in joint[1]]
            joined = self._recorder.join([output.recorded for output in outputs], axis_name)
            outputs[:] = [output for output in outputs if output.recorded in joined]
            self._outputs.put(tensor, outputs)
        for output in outputs:
            order = order_in(output.block, layout)
            if order is not None:
                self._recorder.settle(output.recorded, order, is_last=is_projection)
            elif is_projection and output.recorded.is_folded:  # no heads were put in one row
                self._recorder.settle(output.recorded, all_items(output.recorded.order))

    def _joint_axis(self, outputs: list[Output], layout: Layout) -> tuple[str, list[int]] | None:
        """Return along which axis outputs in a tensor are chunks of one call, and in which order; None = of none."""
        starts = (layout.index_at(output.block.offset) for output in outputs)
        indices = [index for index in starts if index is not None]
        differing = [d for d in range(len(layout.shape)) if len({index[d] for index in indices}) > 1]
        if len(indices) < len(outputs) or len(differing) != 1 or len({output.recorded.run for output in outputs}) > 1:
            return None
        order = sorted(range(len(outputs)), key=lambda number: indices[number][differing[0]])
        axes = [[layout.split(n, stride) or [] for n, stride in axis] for axis in outputs[0].block.axes]
        of_queries, row = ({d for segments in axis for n, d, _ in segments if n > 1} for axis in axes[-2:])
        if differing[0] in row:
            return "heads", order
        if differing[0] in of_queries:
            return "queries", order
        return ("items", order) if len(outputs) == self._recorder.stack.n_items else None


def _of_chunks(block: Block, pairs: Sequence[tuple[Tensor, Tensor]]) -> Block | None:
    """Return where a block lies after it was cut along one of its axes and the pieces went elsewhere, one by one."""
    sources, targets = ([Layout.of(tensor) for tensor in side] for side in zip(*pairs, strict=True))
    for number, axis in enumerate(block.axes[:-2]):
        (n, stride), *inner = axis
        if inner or n % len(pairs) or sources[1].offset - sources[0].offset != stride * n // len(pairs):
            continue
        axes = [*block.axes[:number], ((n // len(pairs), stride),), *block.axes[number + 1 :]]
        if moved := Block(sources[0].offset, tuple(axes)).relocate(sources[0], targets[0]):
            chunk_axis = (len(pairs), targets[1].offset - targets[0].offset)
            axes_after = [*moved.axes[:number], (chunk_axis, *moved.axes[number]), *moved.axes[number + 1 :]]
            return moved._replace(axes=tuple(axes_after))
    return None
