"""Where a tensor's numbers lie in its storage, the order of heads and items, and the joining of calls that are one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention_core.attention.joining import join_traces
from attention_core.attention.trace import AttentionTrace

AxisStrides = tuple[tuple[int, int], ...]
"""(size, stride) of the dimensions that form an axis, outermost first; a stride of 0 repeats the same numbers."""


class Layout(NamedTuple):
    """Shape, strides and offset of a tensor: where its numbers lie in its storage."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, tensor: Tensor) -> Layout:
        return cls(tuple(tensor.shape), tensor.stride(), int(tensor.storage_offset()))

    def index_at(self, address: int) -> tuple[int, ...] | None:
        """Return the index of the number at an address of the storage; None if the tensor has no number there."""
        remainder, index = address - self.offset, [0] * len(self.shape)
        for dimension in sorted(range(len(self.shape)), key=lambda d: -self.stride[d]):
            if self.stride[dimension] > 0:
                index[dimension] = min(remainder // self.stride[dimension], self.shape[dimension] - 1)
                remainder -= index[dimension] * self.stride[dimension]
        return None if remainder else tuple(index)

    def address(self, index: Sequence[int]) -> int:
        return self.offset + sum(i * stride for i, stride in zip(index, self.stride, strict=True))

    def split(self, size: int, stride: int) -> list[tuple[int, int, int]] | None:
        """Return which dimensions an axis of this size and stride runs through; None if it fits none.

        Returns:
            (size, dimension, step) of each, outermost first: size numbers, every step-th one along the dimension. A
            dimension of -1 repeats one number.
        """
        segments: list[tuple[int, int, int]] = []
        while size > 1 and stride > 0:
            fitting = [d for d, (n, step) in enumerate(zip(self.shape, self.stride, strict=True)) if n > 1 and step > 0]
            fitting = [d for d in fitting if stride % self.stride[d] == 0]
            if not fitting:
                return None
            widest = max(fitting, key=lambda d: self.stride[d])
            step, n = stride // self.stride[widest], self.shape[widest]
            if step * (size - 1) < n:
                return [(size, widest, step), *segments]
            inside = n // step
            if n % step or inside < 2 or size % inside:
                return None
            segments.insert(0, (inside, widest, step))
            size, stride = size // inside, stride * inside
        return [(size, -1, 0), *segments]


class Block(NamedTuple):
    """Numbers of a storage, such as one head's weights; an axis of them may run through several dimensions."""

    offset: int
    axes: tuple[AxisStrides, ...]

    @classmethod
    def covering(cls, layout: Layout) -> Block:
        return cls(layout.offset, tuple(((n, step),) for n, step in zip(layout.shape, layout.stride, strict=True)))

    def relocate(self, source: Layout, target: Layout) -> Block | None:
        """Return the same elements in another layout of the same shape; None where strides cannot describe them."""
        index, axes = source.index_at(self.offset), self.segments_in(source)
        if index is None or axes is None:
            return None
        moved_axes = tuple(tuple((n, target.stride[d] * step) for n, d, step in segments) for segments in axes)
        return Block(target.address(index), moved_axes)

    def segments_in(self, layout: Layout) -> list[list[tuple[int, int, int]]] | None:
        """Return what Layout.split returns for each axis; None where one of them fits no dimension."""
        axes = [[layout.split(n, stride) for n, stride in axis] for axis in self.axes]
        if any(segments is None for axis in axes for segments in axis):
            return None
        return [[segment for segments in axis for segment in segments or ()] for axis in axes]

    def of(self, tensor: Tensor) -> Tensor:
        """Return the block as a tensor with one dimension per axis; repeated numbers take no memory."""
        sizes, strides = zip(*(size_and_stride for axis in self.axes for size_and_stride in axis), strict=True)
        block = tensor.detach().as_strided(sizes, strides, self.offset)
        return block.reshape([math.prod(n for n, _ in axis) for axis in self.axes])


class SubAxis(NamedTuple):
    """What one of the axes before the queries holds, such as the heads in an axis of items and heads."""

    axis: int  # which, from 0
    n: int
    step: int  # along the axis
    is_head: bool = False  # or an item, or a window of one


class Order(NamedTuple):
    sub_axes: tuple[SubAxis, ...]  # outermost first
    is_batch_first: bool = True  # whether items stand before the queries, where windows may stand with them

    @property
    def items(self) -> list[SubAxis]:
        return [sub_axis for sub_axis in self.sub_axes if not sub_axis.is_head]


def usual_order(sizes: Sequence[int], n_items: int = 0) -> Order:
    """Return the order that nearly all code has: items, then heads; of one axis alone, n_items tells if it is items."""
    last = len(sizes) - 1
    is_batch = last == 0 and sizes[0] == n_items
    return Order(tuple(SubAxis(axis, n, 1, axis == last and not is_batch) for axis, n in enumerate(sizes)))


def all_items(order: Order) -> Order:
    return Order(tuple(sub_axis._replace(is_head=False) for sub_axis in order.sub_axes))


def order_in(context: Block, layout: Layout) -> Order | None:
    """Return the order by how a tensor puts a context (*axes, query, d): heads are what lies in one row with d.

    None where nothing does, or where all is in one row.
    """
    axes = context.segments_in(layout)
    if len(layout.shape) < 2 or axes is None:
        return None
    *leading, queries, features = [[segment for segment in segments if segment[0] > 1] for segments in axes]
    row = {dimension for _, dimension, _ in features}
    if any(dimension in row for _, dimension, _ in queries):
        return None
    ordered = []
    for axis, segments in enumerate(leading):
        step = 1
        for n, dimension, stride in reversed(segments):
            ordered.append((dimension, -stride, SubAxis(axis, n, step, dimension in row)))
            step *= n
    if not any(sub_axis.is_head for *_, sub_axis in ordered):
        return None
    first = min((dimension for _, dimension, _ in queries), default=len(layout.shape))
    is_batch_first = all(sub_axis.is_head or dimension < first for dimension, _, sub_axis in ordered)
    return Order(tuple(sub_axis for *_, sub_axis in sorted(ordered)), is_batch_first)


def batch_indices(order: Order, item: int) -> list[tuple[SubAxis, int]]:
    """Return the index along each sub-axis that is no head, for an item or window of all; of fewer, the last one."""
    item, indices = min(item, math.prod(sub_axis.n for sub_axis in order.items) - 1), []
    for sub_axis in reversed(order.items):
        item, index = divmod(item, sub_axis.n)
        indices.append((sub_axis, index))
    return indices


def sizes_of(*tensors: Tensor) -> list[int]:
    """Return the sizes of the axes before the queries, of tensors that are broadcast or whose heads are shared."""
    if tensors[0].is_nested:
        return [tensors[0].size(0), tensors[0].size(1)]
    n_axes = max(tensor.ndim for tensor in tensors)
    return [max(sizes) for sizes in zip(*((1,) * (n_axes - t.ndim) + t.shape[:-2] for t in tensors), strict=True)]


def select_slice(tensor: Tensor, sizes: Sequence[int], order: Order, number: int) -> Tensor:
    """Return one slice of the batch, (n_heads or what is repeated for them, n, m).

    The tensor is (..., n, m); its leading axes have these sizes, or are left out, 1, or fewer heads.
    """
    tensor = tensor[(None,) * (len(sizes) + 2 - tensor.ndim)]
    indices: list[Any] = [0] * len(sizes)
    for sub_axis, index in batch_indices(order, number):
        indices[sub_axis.axis] += index * sub_axis.step
    heads = [sub_axis for sub_axis in order.sub_axes if sub_axis.is_head]
    indices = [0 if n == 1 else index for n, index in zip(tensor.shape, indices, strict=False)]
    for sub_axis in heads:
        start = indices[sub_axis.axis]
        indices[sub_axis.axis] = slice(start, start + sub_axis.n * sub_axis.step, sub_axis.step)
    tensor = tensor[tuple(indices)]
    if len(heads) > 1:
        tensor = tensor.expand(*(sub_axis.n for sub_axis in heads), -1, -1).flatten(0, -3)
    return tensor if heads else tensor[None]


def with_note(trace: AttentionTrace, note: str) -> AttentionTrace:
    return trace.with_story(note=f"{trace.story.note} {note}".strip())


def joined(calls: Sequence[list[AttentionTrace]], along: str) -> list[AttentionTrace]:
    """Return the traces of several calls as those of one, joined along "queries" or "heads"; none if they do not fit.

    Each call has a trace of each slice of the batch that is recorded.
    """
    if len({len(traces) for traces in calls}) > 1:
        return []
    together = list(zip(*calls, strict=True))
    if not all(_fit(trace, traces[0], along) for traces in together for trace in traces):
        return []
    return [join_traces(traces, 0 if along == "heads" else 1) for traces in together]


def _fit(trace: AttentionTrace, first: AttentionTrace, along: str) -> bool:
    scores = [(t.score.to_json_value(), t.has_softmax, t.dropout) for t in (trace, first)]
    sizes = [(t.query.shape[-1], t.n_keys) for t in (trace, first)]
    if along == "heads":
        fits = trace.query.shape == first.query.shape and trace.value.shape == first.value.shape and trace.n_heads == 1
    else:
        fits = torch.equal(trace.key, first.key) and torch.equal(trace.value, first.value)
    return fits and scores[0] == scores[1] and sizes[0] == sizes[1] and not trace.is_causal
