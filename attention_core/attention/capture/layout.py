"""Where a tensor's numbers lie in its storage, the order of heads and items, and how parts of a call are joined."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis

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
        parts: list[tuple[int, int, int]] = []
        while size > 1 and stride > 0:
            fitting = [d for d, (n, step) in enumerate(zip(self.shape, self.stride, strict=True)) if n > 1 and step > 0]
            fitting = [d for d in fitting if stride % self.stride[d] == 0]
            if not fitting:
                return None
            widest = max(fitting, key=lambda d: self.stride[d])
            step, n = stride // self.stride[widest], self.shape[widest]
            if step * (size - 1) < n:
                return [(size, widest, step), *parts]
            inside = n // step
            if n % step or inside < 2 or size % inside:
                return None
            parts.insert(0, (inside, widest, step))
            size, stride = size // inside, stride * inside
        return [(size, -1, 0), *parts]


class Block(NamedTuple):
    """A part of a storage, such as one head's weights; an axis of it may run through several dimensions."""

    offset: int
    axes: tuple[AxisStrides, ...]

    @classmethod
    def whole(cls, layout: Layout) -> Block:
        return cls(layout.offset, tuple(((n, step),) for n, step in zip(layout.shape, layout.stride, strict=True)))

    def relocate(self, source: Layout, target: Layout) -> Block | None:
        """Return the same elements in another layout of the same shape; None where strides cannot describe them."""
        index = source.index_at(self.offset)
        axes = [[source.split(*part) for part in axis] for axis in self.axes]
        if index is None or any(split is None for axis in axes for split in axis):
            return None
        return Block(
            target.address(index),
            tuple(tuple((n, target.stride[d] * step) for split in axis for n, d, step in split or ()) for axis in axes),
        )

    def of(self, tensor: Tensor) -> Tensor:
        """Return the block as a tensor with one dimension per axis; repeated numbers take no memory."""
        parts = [part for axis in self.axes for part in axis]
        block = tensor.detach().as_strided([n for n, _ in parts], [step for _, step in parts], self.offset)
        return block.reshape([math.prod(n for n, _ in axis) for axis in self.axes])


class Piece(NamedTuple):
    """A part of one of the axes before the queries, such as the heads in an axis of items and heads."""

    axis: int  # which, from 0
    n: int
    step: int  # along the axis
    is_head: bool = False  # or an item, or a window of one


class Order(NamedTuple):
    pieces: tuple[Piece, ...]  # outermost first
    is_batch_first: bool = True  # whether items stand before the queries, where windows may stand with them

    @property
    def items(self) -> list[Piece]:
        return [piece for piece in self.pieces if not piece.is_head]


def usual_order(sizes: Sequence[int], n_items: int = 0) -> Order:
    """Return the order that nearly all code has: items, then heads; of one axis alone, n_items tells if it is items."""
    last = len(sizes) - 1
    is_batch = last == 0 and sizes[0] == n_items
    return Order(tuple(Piece(axis, n, 1, axis == last and not is_batch) for axis, n in enumerate(sizes)))


def all_items(order: Order) -> Order:
    return Order(tuple(piece._replace(is_head=False) for piece in order.pieces))


def order_in(context: Block, seen: Layout) -> Order | None:
    """Return the order by how a tensor puts a context (*axes, query, d): heads are what lies in one row with d.

    None where nothing does, or where all is in one row.
    """
    axes = [[seen.split(*part) for part in axis] for axis in context.axes]
    if len(seen.shape) < 2 or any(parts is None for axis in axes for parts in axis):
        return None
    *leading, queries, features = [[part for parts in axis for part in parts or () if part[0] > 1] for axis in axes]
    row = {dimension for _, dimension, _ in features}
    if any(dimension in row for _, dimension, _ in queries):
        return None
    placed = []
    for axis, parts in enumerate(leading):
        step = 1
        for n, dimension, stride in reversed(parts):
            placed.append((dimension, -stride, Piece(axis, n, step, dimension in row)))
            step *= n
    if not any(piece.is_head for *_, piece in placed):
        return None
    first = min((dimension for _, dimension, _ in queries), default=len(seen.shape))
    is_batch_first = all(piece.is_head or dimension < first for dimension, _, piece in placed)
    return Order(tuple(piece for *_, piece in sorted(placed)), is_batch_first)


def places_of(order: Order, item: int) -> list[tuple[Piece, int]]:
    """Return the index along each piece that is no head, for an item or window of all; of fewer, the last one."""
    item, found = min(item, math.prod(piece.n for piece in order.items) - 1), []
    for piece in reversed(order.items):
        item, index = divmod(item, piece.n)
        found.append((piece, index))
    return found


def sizes_of(*tensors: Tensor) -> list[int]:
    """Return the sizes of the axes before the queries, of tensors that are broadcast or whose heads are shared."""
    if tensors[0].is_nested:
        return [tensors[0].size(0), tensors[0].size(1)]
    n_axes = max(tensor.ndim for tensor in tensors)
    return [max(sizes) for sizes in zip(*((1,) * (n_axes - t.ndim) + t.shape[:-2] for t in tensors), strict=True)]


def part_of(tensor: Tensor, sizes: Sequence[int], order: Order, number: int) -> Tensor:
    """Return a part of the batch, (n_heads or what is repeated for them, n, m).

    The tensor is (..., n, m), where what stands before may be left out or 1 instead of these sizes, or fewer heads.
    """
    tensor = tensor[(None,) * (len(sizes) + 2 - tensor.ndim)]
    where: list[Any] = [0] * len(sizes)
    for piece, index in places_of(order, number):
        where[piece.axis] += index * piece.step
    heads = [piece for piece in order.pieces if piece.is_head]
    where = [0 if n == 1 else index for n, index in zip(tensor.shape, where, strict=False)]
    for piece in heads:
        start = where[piece.axis]
        where[piece.axis] = slice(start, start + piece.n * piece.step, piece.step)
    tensor = tensor[tuple(where)]
    if len(heads) > 1:
        tensor = tensor.expand(*(piece.n for piece in heads), -1, -1).flatten(0, -3)
    return tensor if heads else tensor[None]


def with_note(trace: AttentionTrace, note: str) -> AttentionTrace:
    return trace.with_story(note=f"{trace.story.note} {note}".strip())


def joined(several: Sequence[list[AttentionTrace]], how: str) -> list[AttentionTrace]:
    """Return the traces of a call whose "queries" or "heads" are those of several; none where they are of no one call.

    Each of the several has a trace of each part of the batch that is kept.
    """
    if len({len(traces) for traces in several}) > 1:
        return []
    together = list(zip(*several, strict=True))
    if not all(_fit(one, traces[0], how) for traces in together for one in traces):
        return []
    return [_joined(traces, 0 if how == "heads" else 1) for traces in together]


def _fit(one: AttentionTrace, other: AttentionTrace, how: str) -> bool:
    settings = [(t.score.to_plain(), t.has_softmax, t.dropout, t.query.shape[-1], t.n_keys) for t in (one, other)]
    if how == "heads":
        fits = one.query.shape == other.query.shape and one.value.shape == other.value.shape and one.n_heads == 1
    else:
        fits = torch.equal(one.key, other.key) and torch.equal(one.value, other.value)
    return fits and settings[0] == settings[1] and not one.is_causal


def _joined(traces: Sequence[AttentionTrace], axis: int) -> AttentionTrace:
    first = traces[0]

    def together(name: str, missing: Any, size: Sequence[int] = ()) -> Tensor | None:
        parts = [getattr(one, name) for one in traces]
        if all(part is None for part in parts):
            return None
        parts = [torch.full((1,), missing, device=first.query.device) if part is None else part for part in parts]
        sizes = [(one.n_heads, one.n_queries, *size) for one in traces]
        return torch.cat([part.expand(size) for part, size in zip(parts, sizes, strict=True)], axis)

    query = torch.cat([one.query for one in traces], axis)
    is_known = all(one.normaliser is not None for one in traces)
    return replace(
        first,
        query=query,
        key=first.key if axis else torch.cat([one.key for one in traces]),
        value=first.value if axis else torch.cat([one.value for one in traces]),
        mask=together("mask", True, (first.n_keys,)),
        bias=together("bias", 0.0, (first.n_keys,)),
        sinks=together("sinks", -math.inf),
        normaliser=together("normaliser", 0.0) if is_known else None,
        story=replace(first.story, query_axis=Axis.numbered("queries", query.shape[1])),
    )
