"""Which of an attention's axes before the queries are heads, and which are items of the batch or windows of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from torch import Tensor

from attention_core.attention.capture.layout import Block, Layout


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
