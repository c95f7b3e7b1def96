"""How a tensor was computed: from which product, and what scaled, biased and masked it since.

A number is identified by its address in the storage of its tensor. Views share that storage, so however a program
reshapes or transposes a tensor, nothing needs to be followed. No tensor as large as the scores is kept alive.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from torch import Tensor

from attention_core.attention.capture.trace_builder import FORBIDS

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
            if step > 1 or size % n:
                return None
            parts.insert(0, (n, widest, 1))
            size, stride = size // n, stride * n
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


@dataclass(frozen=True, eq=False)
class Product:
    """A tensor computed as alpha times a batched matrix product."""

    layout: Layout  # of the tensor, (n, rows, columns)
    left: Tensor  # (n, rows, d)
    right: Tensor  # (n, d, columns)
    alpha: float = 1.0

    def factors(self, block: Block) -> tuple[Tensor, Tensor] | None:
        """Return query (n_heads, n_queries, d) and key (n_heads, n_keys, d) of a block (head, query, key)."""
        index = self.layout.index_at(block.offset)
        splits = [[self.layout.split(*part) for part in axis] for axis in block.axes]
        if index is None or any(split is None for axis in splits for split in axis):
            return None
        heads, queries, keys = [[part for split in axis for part in split or ()] for axis in splits]
        # Each factor with the dimension of the product that its rows or columns span.
        row_factor, column_factor = (self.left, 1), (self.right.mT, 2)
        if any(d == 2 for _, d, _ in queries):  # queries are the columns of the product
            row_factor, column_factor = column_factor, row_factor
        factors = []
        for (factor, own_d), positions in ((row_factor, queries), (column_factor, keys)):
            if any(d not in (-1, 0, own_d) for _, d, _ in positions):
                return None
            strides = {-1: 0, 0: factor.stride(0), 1: 0, 2: 0} | {own_d: factor.stride(1)}
            offset = int(factor.storage_offset()) + index[0] * strides[0] + index[own_d] * strides[own_d]
            axes = [tuple((n, strides[d] * step) for n, d, step in parts) for parts in (heads, positions)]
            factors.append(Block(offset, (*axes, ((factor.shape[-1], factor.stride(-1)),))).of(factor))
        return factors[0], factors[1]


@dataclass(frozen=True, eq=False)
class ElementwiseStep:
    """A tensor computed from another one element by element."""

    kind: str  # "same", "times", "plus", "fill", "tanh", "dropout" or, of weights, "changed"
    layout: Layout  # of the tensor
    source: Origin  # of the other tensor
    source_layout: Layout  # of the other tensor, expanded to the shape of this one
    operand: Any = None  # the other operand: a number, or a tensor expanded to that shape
    detail: Any = None  # alpha of "plus" (-1 for a difference), whether "times" divides, the number of "fill"


@dataclass(frozen=True, eq=False)
class Softmax:
    """A tensor of weights, computed by a softmax."""

    layout: Layout  # of the tensor
    dimension: int  # of the keys
    scores: Origin | None  # of the scores, if it is known
    scores_layout: Layout


@dataclass(frozen=True, eq=False)
class MixedWeights:
    """A tensor that mixes weights of several heads or keys, as talking heads do: no number of it is a single weight."""

    weights: Tensor  # the weights before they were mixed, in the softmax's shape
    source: Origin  # of these weights

    @classmethod
    def of(cls, tensor: Tensor, origin: Origin) -> MixedWeights | None:
        """Return the weights in a tensor that is about to be mixed; None where it holds none."""
        steps, first = steps_to(origin)
        if not isinstance(first, Softmax):
            return None
        block: Block | None = Block.whole(first.layout)
        for step in reversed(steps):
            block = block and block.relocate(step.source_layout, step.layout)
        if block is None:
            return None
        weights = block.of(tensor).contiguous()
        layout = Layout.of(weights)
        source: Origin = replace(first, layout=layout)
        for step in reversed(steps):
            source = ElementwiseStep(step.kind, layout, source, layout, None, step.detail)
        return cls(weights, source)


Origin = Product | ElementwiseStep | Softmax | MixedWeights


def steps_to(origin: Origin | None) -> tuple[list[ElementwiseStep], Origin | None]:
    """Return the elementwise steps that lead to a tensor, the last one first, and the origin before them."""
    steps = []
    while isinstance(origin, ElementwiseStep):
        steps.append(origin)
        origin = origin.source
    return steps, origin


class ScoreInputs(NamedTuple):
    """The inputs of scores; arguments of TraceBuilder.build."""

    query: Tensor  # (n_heads, n_queries, d_k)
    key: Tensor  # (n_heads, n_keys, d_k)
    scale: float  # of the dot products
    softcap: float | None  # of the scaled dot products, or None
    bias: Tensor | None  # broadcastable to (n_heads, n_queries, n_keys), or None
    hidden: Tensor | None  # bool as the bias is, True = may not attend, or None
    is_minus_infinity: bool  # whether hidden scores were set to minus infinity, not to a large negative number


def score_inputs(origin: Origin | None, block: Block | None) -> ScoreInputs | None:
    """Return the inputs of a block (head, query, key) of scores; None where it is no product of queries and keys."""
    steps, first = steps_to(origin)
    blocks = []  # where the scores lie after each step
    for step in steps:
        blocks.append(block)
        block = None if block is None else block.relocate(step.layout, step.source_layout)
    if not isinstance(first, Product) or block is None or (factors := first.factors(block)) is None:
        return None
    replay = _ScoreReplay(*factors, first.alpha)
    for step, block_after in zip(reversed(steps), reversed(blocks), strict=True):
        if not replay.apply(step, block_after):  # type: ignore[arg-type]
            return None
    if replay.zeroed is not None:
        return None
    return ScoreInputs(*(getattr(replay, name) for name in ScoreInputs._fields))


class _ScoreReplay:
    """Applies the steps from the product to the scores to its inputs: scales, biases and masks."""

    def __init__(self, query: Tensor, key: Tensor, scale: float) -> None:
        self.query, self.key, self.scale = query, key, scale
        self.softcap: float | None = None
        self.bias: Tensor | None = None
        self.hidden: Tensor | None = None
        self.zeroed: Tensor | None = None
        self.is_minus_infinity = True
        self._has_tanh = False

    def apply(self, step: ElementwiseStep, block: Block) -> bool:
        """Apply one step; return False if a trace cannot describe it."""
        operand = step.operand
        if isinstance(operand, Tensor):
            operand_block = block.relocate(step.layout, Layout.of(operand))
            if operand_block is None:
                return False
            operand = _drop_repeats(operand_block).of(operand)
        return bool(getattr(self, f"_{step.kind}", lambda *_: False)(operand, step.detail))

    def _same(self, *_: Any) -> bool:
        return True

    def _times(self, factor: Any, divides: bool) -> bool:
        if isinstance(factor, Tensor) and factor.numel() == 1:
            factor = float(factor)
        factor = 1 / factor if divides else factor
        if self._has_tanh:
            if isinstance(factor, Tensor) or self.softcap != 1:
                return False
            self.softcap, self.scale = float(factor), self.scale * float(factor)
        elif not isinstance(factor, Tensor):
            self.scale *= float(factor)
        elif factor.shape[2] == 1:
            self.query = self.query * factor
        elif factor.shape[1] == 1:
            self.key = self.key * factor.mT
        elif bool(((factor == 0) | (factor == 1)).all()):
            self.zeroed = factor == 0
        else:
            return False
        if self.bias is not None:
            self.bias = self.bias * factor
        return not (self._has_tanh and self.bias is not None)

    def _plus(self, added: Any, alpha: float) -> bool:
        if not isinstance(added, Tensor):
            added = self.query.new_full((1, 1, 1), float(added))
        added = added if alpha == 1 else added * alpha
        if self.zeroed is not None and not bool((self.zeroed & (added > FORBIDS)).any()):
            self.zeroed = None  # the bias hides these keys anyway
        self.bias = added if self.bias is None else self.bias + added
        return True

    def _fill(self, hidden: Tensor, number: float) -> bool:
        if number > FORBIDS:
            return False
        self.hidden = hidden if self.hidden is None else self.hidden | hidden
        self.is_minus_infinity = self.is_minus_infinity and number == -math.inf
        return True

    def _tanh(self, *_: Any) -> bool:
        self._has_tanh, self.softcap = True, 1.0
        return self.bias is None and self.hidden is None


def _drop_repeats(block: Block) -> Block:
    """Return a block in which an axis that only repeats its numbers has length 1."""
    axes = (((1, 0),) if all(step == 0 or n == 1 for n, step in axis) else axis for axis in block.axes)
    return Block(block.offset, tuple(axes))


class ItemLayout(NamedTuple):
    """Where one item's weights, values and context lie in the product of weights and values."""

    weights: Block  # (head, query, key) in the storage of the left factor
    value: Block  # (head, key, d) in that of the right factor
    context: Block  # (head, query, d) in that of the product
    scores: Block | None  # (head, query, key) in that of the scores; None where they cannot be located
    n_items: int  # of the batch
    splits_heads: bool  # whether one dimension of the scores holds items and heads, split by the number of heads


def locate_item(
    steps: Sequence[ElementwiseStep],
    softmax: Softmax,
    left: Tensor,
    right: Tensor,
    out: Tensor,
    item: int,
    n_heads: int,
) -> ItemLayout | None:
    """Locate one item in a product of weights (n, rows, m) and values (n, m, d); None if it is not such a product.

    Args:
        steps: from the softmax to the left factor, the last one first.
        softmax: where the weights come from.
        left: the weights.
        right: the values.
        out: the product, (n, rows, d).
        item: of the batch, from 0.
        n_heads: as the module says, or 0 if it does not.
    """
    block: Block | None = Block.whole(Layout.of(left))
    for step in steps:
        block = block.relocate(step.layout, step.source_layout) if block else None
    block = block.relocate(softmax.layout, softmax.layout) if block else None
    if block is None:
        return None
    dims = {stride: d for d, (n, stride) in enumerate(zip(*softmax.layout[:2], strict=True)) if n > 1}
    keys = [part for part in block.axes[2] if part[0] > 1]
    if [dims.get(stride) for _, stride in keys] not in ([softmax.dimension], []):
        return None
    if not keys and softmax.layout.shape[softmax.dimension] != 1:
        return None
    rows, leading = _roles(_dimensions(block, dims), softmax)
    if _has_one_head(rows, softmax):
        n_heads = 1
    n_items, heads, items = _heads_and_items(leading, n_heads, item)
    strides = softmax.layout.stride

    def block_of(tensor: Tensor, axes: tuple[int, int], last: tuple[int, int]) -> Block:
        """Return the block of a factor or of the product whose dimensions 0 and 1 are these axes (-1: not there)."""
        strides_of = {axis: tensor.stride(d) for d, axis in enumerate(axes) if axis >= 0}
        offset = int(tensor.storage_offset()) + sum(
            index * part.step * strides_of.get(part.axis, 0) for part, index in items
        )
        head_axis = tuple((part.n, part.step * strides_of.get(part.axis, 0)) for part in heads) or ((1, 0),)
        query_axis = tuple((part.n, part.step * strides_of.get(part.axis, 0)) for part in rows) or ((1, 0),)
        return Block(offset, (head_axis, query_axis, (last,)))

    offset = block.offset + sum(index * part.stride for part, index in items)
    in_softmax = Block(
        offset,
        (
            tuple((part.n, part.stride) for part in heads) or ((1, 0),),
            tuple((part.n, part.stride) for part in rows) or ((1, 0),),
            ((left.shape[2], strides[softmax.dimension]),),
        ),
    )
    has_all_keys = left.shape[2] == softmax.layout.shape[softmax.dimension]
    value = block_of(right, (0, -1), (right.shape[2], right.stride(2)))
    return ItemLayout(
        weights=block_of(left, (0, 1), (left.shape[2], left.stride(2))),
        value=Block(value.offset, (value.axes[0], ((right.shape[1], right.stride(1)),), value.axes[2])),
        context=block_of(out, (0, 1), (out.shape[2], out.stride(2))),
        scores=in_softmax.relocate(softmax.layout, softmax.scores_layout) if has_all_keys else None,
        n_items=n_items,
        splits_heads=bool(n_heads and len(leading) == 1 and heads and heads[0].n < leading[0].n),
    )


class _DimensionMap(NamedTuple):
    """A dimension of the weights, and where the product's left factor has it: every step-th number of an axis."""

    dimension: int
    n: int
    stride: int
    axis: int
    step: int


def _dimensions(block: Block, dims: dict[int, int]) -> Iterator[_DimensionMap]:
    for axis in (0, 1):
        step = 1
        for n, stride in reversed(block.axes[axis]):
            if n > 1:
                yield _DimensionMap(dims.get(stride, -1) if stride else -1, n, stride, axis, step)
            step *= n


def _roles(parts: Iterator[_DimensionMap], softmax: Softmax) -> tuple[list[_DimensionMap], list[_DimensionMap]]:
    """Return the dimensions of the queries, and the other ones, outermost first."""
    ordered = sorted(parts)
    before = softmax.dimension - 1
    if before >= 0 and softmax.layout.shape[before] == 1:
        return [], ordered
    candidates = [part for part in ordered if part.axis == 1]
    chosen = [part for part in candidates if part.dimension == before] or candidates[-1:]
    return chosen, [part for part in ordered if part not in chosen]


def _has_one_head(rows: list[_DimensionMap], softmax: Softmax) -> bool:
    """Return whether the softmax has a dimension for heads, and that has length 1."""
    query = rows[0].dimension if rows else softmax.dimension - 1
    others = [n for d, n in enumerate(softmax.layout.shape) if d not in (query, softmax.dimension)]
    return len(others) > 1 and others[-1] == 1


def _heads_and_items(
    leading: list[_DimensionMap], n_heads: int, item: int
) -> tuple[int, list[_DimensionMap], list[tuple[_DimensionMap, int]]]:
    """Return the number of items, the dimensions of the heads, and (dimension, index of the item) for the others."""
    if not leading:
        return 1, [], []
    if n_heads == 1:
        places = [(part, min(item, part.n - 1) if number == 0 else 0) for number, part in enumerate(leading)]
        return math.prod(part.n for part in leading), [], places
    chosen = next((part for part in reversed(leading) if part.n == n_heads), None)
    if chosen is None and len(leading) == 1 and n_heads > 1 and leading[0].n % n_heads == 0:
        (both,) = leading  # one dimension holds items and heads
        heads = both._replace(n=n_heads)
        items = both._replace(n=both.n // n_heads, stride=both.stride * n_heads, step=both.step * n_heads)
        return items.n, [heads], [(items, min(item, items.n - 1))]
    if chosen is None and len(leading) > 1 and leading[-2].n * leading[-1].n == n_heads:  # groups of heads share keys
        heads_of = leading[-2:]
    else:
        heads_of = [chosen or leading[-1]]
    others = [part for part in leading if part not in heads_of]
    n_items = math.prod(part.n for part in others)
    places = [(part, min(item, part.n - 1) if number == 0 else 0) for number, part in enumerate(others)]
    return n_items, heads_of, places
