"""How a tensor was computed: from which product, and what scaled, biased and masked it since.

A number is identified by its address in the storage of its tensor. A view, such as a reshaped or transposed tensor, has
the same storage, so that views need not be followed. No tensor as large as the scores is kept alive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, NamedTuple

from torch import Tensor

from attention_core.attention.capture.layout import Block, Layout, Order, SubAxis, batch_indices, usual_order
from attention_core.attention.capture.trace_builder import MAX_MASKING_BIAS


@dataclass(frozen=True, eq=False)
class Product:
    """A tensor computed as alpha times a batched matrix product."""

    layout: Layout  # of the tensor, (n, rows, columns)
    left: Tensor  # (n, rows, d)
    right: Tensor  # (n, d, columns)
    alpha: float = 1.0

    def factors(self, block: Block) -> tuple[Tensor, Tensor] | None:
        """Return query (n_heads, n_queries, d) and key (n_heads, n_keys, d) of a block (head, query, key), or None."""
        index, axes = self.layout.index_at(block.offset), block.segments_in(self.layout)
        if index is None or axes is None:
            return None
        heads, queries, keys = axes
        # (factor, dimension of the product along which its vectors stand)
        query_factor, key_factor = (self.left, 1), (self.right.mT, 2)
        if any(dimension == 2 for _, dimension, _ in queries):
            query_factor, key_factor = key_factor, query_factor
        factors = []
        for (factor, along), positions in ((query_factor, queries), (key_factor, keys)):
            if any(dimension not in (-1, 0, along) for _, dimension, _ in positions):
                return None
            # strides in the factor, by dimension of the product; -1 repeats a number
            strides = {-1: 0, 0: factor.stride(0), 1: 0, 2: 0} | {along: factor.stride(1)}
            offset = int(factor.storage_offset()) + index[0] * strides[0] + index[along] * strides[along]
            outer_axes = [tuple((n, strides[d] * step) for n, d, step in segments) for segments in (heads, positions)]
            factors.append(Block(offset, (*outer_axes, ((factor.shape[-1], factor.stride(-1)),))).of(factor))
        return factors[0], factors[1]


@dataclass(frozen=True, eq=False)
class ElementwiseStep:
    """A tensor computed element by element from a source tensor, perhaps with an operand."""

    operation: str  # "same", "times", "divided", "plus", "shift" by row, "fill", "tanh", "exp", "dropout", "changed"
    layout: Layout  # of the tensor
    source: Provenance | None  # of the source
    source_layout: Layout  # of the source, expanded to the tensor's shape
    operand: Any = None  # a number, or a tensor expanded to the tensor's shape
    scalar: Any = None  # alpha of "plus" (-1 for a difference), what "fill" writes, probability of "dropout"


@dataclass(frozen=True, eq=False)
class Softmax:
    """The output of a softmax: weights, unless it is over options."""

    layout: Layout  # of the tensor
    dimension: int  # of the keys
    scores: Provenance | None  # of the scores, if it is known
    scores_layout: Layout
    number: int = field(default_factory=count().__next__)  # among all of a process

    @property
    def is_over_options(self) -> bool:
        """Whether it is over options that a layer has learned, such as classes or experts, and not over positions."""
        return isinstance(self.scores, LayerOutput) and self.scores.has_inside(self.scores_layout, self.dimension)


@dataclass(frozen=True, eq=False)
class LayerOutput:
    """The output of a learned layer: n numbers for each position, adjacent in the storage."""

    n: int

    def has_inside(self, layout: Layout, dimension: int) -> bool:
        """Return whether the numbers along a dimension all belong to one position."""
        return layout.stride[dimension] * (layout.shape[dimension] - 1) < self.n

    def copied_to(self, layout: Layout) -> LayerOutput:
        """Return the provenance of a copy with this layout, which may hold fewer numbers for each position."""
        sizes = [n for dimension, n in enumerate(layout.shape) if self.has_inside(layout, dimension)]
        return LayerOutput(math.prod(sizes))


@dataclass(frozen=True, eq=False)
class RawContext:
    """Exponentials of scores times values: attention, if it is divided by the sums of the exponentials afterwards."""

    left: Tensor  # the exponentials, (n, rows, m)
    right: Tensor  # the values, (n, m, d)
    source: Provenance  # of the exponentials
    layout: Layout  # of the product


@dataclass(frozen=True, eq=False)
class WeighedValues:
    """Values times their weights, number by number: attention, if they are added up over the keys."""

    weights: Tensor  # expanded to the shape of the product; along the values' features they repeat one number
    value: Tensor  # expanded; along queries it repeats one number
    is_learned: bool  # whether the values are a parameter


@dataclass(frozen=True, eq=False)
class WeightMixture:
    """A tensor that mixes weights of several heads or keys, as talking heads do: no number of it is a single weight."""

    weights: Tensor  # the weights before they were mixed, in the softmax's shape
    source: Provenance  # of these weights

    @classmethod
    def of(cls, tensor: Tensor, origin: Provenance) -> WeightMixture | None:
        """Return the weights in a tensor that is about to be mixed; None where it holds none."""
        steps, first = steps_to(origin)
        if not isinstance(first, Softmax):
            return None
        block: Block | None = Block.covering(first.layout)
        for step in reversed(steps):
            block = block and block.relocate(step.source_layout, step.layout)
        if block is None:
            return None
        weights = block.of(tensor).contiguous()
        layout = Layout.of(weights)
        source: Provenance = replace(first, layout=layout)
        for step in reversed(steps):
            source = ElementwiseStep(step.operation, layout, source, layout, None, step.scalar)
        return cls(weights, source)

    def copied_to(self, layout: Layout) -> WeightMixture:
        return self


Provenance = Product | ElementwiseStep | Softmax | WeightMixture | LayerOutput | RawContext | WeighedValues


def steps_to(origin: Provenance | None) -> tuple[list[ElementwiseStep], Provenance | None]:
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
    hidden: Tensor | None  # bool, True = may not attend, broadcastable as the bias is, or None
    is_minus_infinity: bool  # whether hidden scores were set to minus infinity, not to a large negative number


def score_inputs(origin: Provenance | None, block: Block | None) -> ScoreInputs | None:
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
    if replay.zero_scores is not None:
        return None
    return ScoreInputs(*(getattr(replay, name) for name in ScoreInputs._fields))


class _ScoreReplay:
    """The ScoreInputs of a product, to which the steps that lead to the scores are applied one by one."""

    def __init__(self, query: Tensor, key: Tensor, scale: float) -> None:
        self.query, self.key, self.scale = query, key, scale
        self.softcap: float | None = None
        self.bias: Tensor | None = None
        self.hidden: Tensor | None = None
        self.zero_scores: Tensor | None = None  # True where a mask multiplied scores by 0; None if none did
        self.is_minus_infinity = True
        self._has_tanh = self._has_exp = self._is_shifted = False

    def apply(self, step: ElementwiseStep, block: Block) -> bool:
        """Apply one step by the method of its operation's name; return False if a trace cannot describe it."""
        operand = step.operand
        if isinstance(operand, Tensor):
            operand_block = block.relocate(step.layout, Layout.of(operand))
            if operand_block is None:
                return False
            operand = _drop_repeats(operand_block).of(operand)
        return bool(getattr(self, f"_{step.operation}", lambda *_: False)(operand, step.scalar))

    def _same(self, *_: Any) -> bool:
        return True

    def _divided(self, divisor: Any, *_: Any) -> bool:
        is_number = isinstance(divisor, Tensor) and divisor.numel() == 1
        return self._times(1 / (float(divisor) if is_number else divisor))

    def _times(self, factor: Any, *_: Any) -> bool:
        if isinstance(factor, Tensor) and factor.numel() == 1:
            factor = float(factor)
        is_per_row = not isinstance(factor, Tensor) or factor.shape[2] == 1
        if self._has_exp:  # dividing by the sum of a row cancels a factor of that row, and a factor of 0 masks a key
            return is_per_row or (_is_binary(factor) and self._fill(factor == 0, -math.inf))
        if self._is_shifted and not is_per_row:
            return False  # it would make the ignored shift differ from key to key
        return self._times_scores(factor)

    def _times_scores(self, factor: Any) -> bool:
        if self._has_tanh:  # c tanh(s) is a softcap of c on the scaled dot product c s
            if isinstance(factor, Tensor) or self.softcap != 1:
                return False
            self.softcap, self.scale = float(factor), self.scale * float(factor)
        elif not isinstance(factor, Tensor):
            self.scale *= float(factor)
        elif factor.shape[2] == 1:
            self.query = self.query * factor
        elif factor.shape[1] == 1:
            self.key = self.key * factor.mT
        elif _is_binary(factor):
            self.zero_scores = factor == 0
        else:
            return False
        if self.bias is not None:
            self.bias = self.bias * factor
        return not (self._has_tanh and self.bias is not None)

    def _exp(self, *_: Any) -> bool:
        self._has_exp = True
        return True

    def _shift(self, *_: Any) -> bool:
        """Ignore a number added to each score of a row, as the softmax does; False for one added to exponentials."""
        self._is_shifted = True
        return not self._has_exp

    def _plus(self, added: Any, alpha: float) -> bool:
        if self._has_exp or (isinstance(added, Tensor) and added.shape[2] == 1 < self.key.shape[1]):
            return self._shift()
        if not isinstance(added, Tensor):
            added = self.query.new_full((1, 1, 1), float(added))
        added = added if alpha == 1 else added * alpha
        if self.zero_scores is not None and not bool((self.zero_scores & (added > MAX_MASKING_BIAS)).any()):
            self.zero_scores = None  # the bias masks these keys anyway
        self.bias = added if self.bias is None else self.bias + added
        return True

    def _fill(self, hidden: Tensor, number: float) -> bool:
        number = -math.inf if self._has_exp and number == 0 else number  # an exponential of 0 is a score of -inf
        if number > MAX_MASKING_BIAS:
            return False
        self.hidden = hidden if self.hidden is None else self.hidden | hidden
        self.is_minus_infinity = self.is_minus_infinity and number == -math.inf
        return True

    def _tanh(self, *_: Any) -> bool:
        self._has_tanh, self.softcap = True, 1.0
        return self.bias is None and self.hidden is None and not self._is_shifted and not self._has_exp


def _is_binary(factor: Tensor) -> bool:
    return bool(((factor == 0) | (factor == 1)).all())


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


class WeighedLayout(NamedTuple):
    """Where weights (n, rows, m), values (n, m, d) and their product lie, and what its axes are in the softmax."""

    softmax: Softmax
    left: Layout
    right: Layout
    out: Layout
    offset: int  # of the weights in the softmax's storage
    queries: Sequence[_DimensionMap]
    leading: Sequence[_DimensionMap]  # the axes before the queries, outermost first

    @classmethod
    def of(
        cls, steps: Sequence[ElementwiseStep], softmax: Softmax, left: Tensor, right: Tensor, out: Tensor
    ) -> WeighedLayout | None:
        """Return the layout of left @ right = out; None if left holds no weights. Steps: from the softmax to left."""
        block, dimensions = summed_dimensions(steps, softmax, left)
        has_single_key = softmax.layout.shape[softmax.dimension] == 1
        if block is None or dimensions != ([] if has_single_key else [[softmax.dimension]]):
            return None  # the product does not sum over the keys alone
        queries, leading = _split_queries(_map_dimensions(block, softmax.layout), softmax)
        return cls(softmax, Layout.of(left), Layout.of(right), Layout.of(out), block.offset, queries, leading)

    @property
    def has_single_head_axis(self) -> bool:
        """Whether the softmax has a dimension for heads, and that has length 1."""
        query = self.queries[0].dimension if self.queries else self.softmax.dimension - 1
        sizes = [n for d, n in enumerate(self.softmax.layout.shape) if d not in (query, self.softmax.dimension)]
        return len(sizes) > 1 and sizes[-1] == 1

    def usual_order(self, n_items: int) -> Order:
        """Return layout.usual_order of the leading axes; with a dimension for a single head, all of them are items."""
        if self.has_single_head_axis:
            return Order(tuple(SubAxis(axis, dim.n, 1) for axis, dim in enumerate(self.leading)))
        return usual_order([dim.n for dim in self.leading], n_items if len(self.softmax.layout.shape) < 4 else 0)

    def context(self) -> Block:
        """Return the block of the entire product, (*axes before the queries, query, d)."""
        strides = self.out.stride
        axes = [((dim.n, strides[dim.axis] * dim.step),) for dim in self.leading]
        queries = tuple((dim.n, strides[dim.axis] * dim.step) for dim in self.queries) or ((1, 0),)
        return Block(self.out.offset, (*axes, queries, ((self.out.shape[2], strides[2]),)))

    def _dimension_of(self, sub_axis: SubAxis) -> _DimensionMap:
        """Return the numbers of a leading axis that a sub-axis of it holds."""
        dim, step = self.leading[sub_axis.axis], sub_axis.step
        return dim._replace(n=sub_axis.n, stride=dim.stride * step, step=dim.step * step)

    def item_layout(self, order: Order, item: int) -> ItemLayout:
        """Return where weights, values and context of an item of the batch, or a window, lie; `item` is its number."""
        heads = [self._dimension_of(sub_axis) for sub_axis in order.sub_axes if sub_axis.is_head]
        items = [(self._dimension_of(sub_axis), index) for sub_axis, index in batch_indices(order, item)]
        left, right, out, softmax = self.left, self.right, self.out, self.softmax

        def block_at(offset: int, stride_of: Callable[[_DimensionMap], int], last_axis: tuple[int, int]) -> Block:
            axes = (tuple((dim.n, stride_of(dim)) for dim in dims) or ((1, 0),) for dims in (heads, self.queries))
            return Block(offset + sum(index * stride_of(dim) for dim, index in items), (*axes, (last_axis,)))

        def block_of(layout: Layout, axes: tuple[int, int], last_axis: tuple[int, int]) -> Block:
            """Return the block of a tensor whose dimensions 0 and 1 are these axes of the left factor (-1: neither)."""
            strides = {axis: layout.stride[d] for d, axis in enumerate(axes) if axis >= 0}
            return block_at(layout.offset, lambda dim: strides.get(dim.axis, 0) * dim.step, last_axis)

        key_axis = left.shape[2], softmax.layout.stride[softmax.dimension]
        softmax_block = block_at(self.offset, lambda dim: dim.stride, key_axis)
        has_all_keys = left.shape[2] == softmax.layout.shape[softmax.dimension]
        value = block_of(right, (0, -1), (right.shape[2], right.stride[2]))
        return ItemLayout(
            weights=block_of(left, (0, 1), (left.shape[2], left.stride[2])),
            value=Block(value.offset, (value.axes[0], ((right.shape[1], right.stride[1]),), value.axes[2])),
            context=block_of(out, (0, 1), (out.shape[2], out.stride[2])),
            scores=softmax_block.relocate(softmax.layout, softmax.scores_layout) if has_all_keys else None,
        )


def summed_dimensions(
    steps: Sequence[ElementwiseStep], softmax: Softmax, left: Tensor
) -> tuple[Block | None, list[list[int]]]:
    """Return where the weights in the left factor of a product lie, and which of their dimensions it sums over."""
    block: Block | None = Block.covering(Layout.of(left))
    for step in steps:
        block = block and block.relocate(step.layout, step.source_layout)
    block = block and block.relocate(softmax.layout, softmax.layout)  # cuts axes into the softmax's dimensions
    if block is None:
        return None, []
    segments = [softmax.layout.split(n, stride) for n, stride in block.axes[2] if n > 1]
    return block, [[dimension for _, dimension, _ in pieces or ()] for pieces in segments]


class _DimensionMap(NamedTuple):
    """A dimension of the weights, and where the product's left factor has it: every step-th number of an axis."""

    dimension: int  # of the weights
    n: int  # its size
    stride: int  # in the storage of the softmax
    axis: int  # of the left factor, 0 or 1
    step: int  # along that axis


def _map_dimensions(block: Block, layout: Layout) -> Iterator[_DimensionMap]:
    """Yield the dimensions of the weights along which the left factor's axes 0 and 1 run; block: the factor in them."""
    for axis in (0, 1):
        step = 1
        for n, stride in reversed(block.axes[axis]):
            if n > 1:
                segments = layout.split(n, stride)
                yield _DimensionMap(segments[-1][1] if segments else -1, n, stride, axis, step)
            step *= n


def _split_queries(dims: Iterator[_DimensionMap], softmax: Softmax) -> tuple[list[_DimensionMap], list[_DimensionMap]]:
    """Return the dimensions of the queries, and the other ones, outermost first."""
    ordered = sorted(dims, key=lambda mapped: (mapped.dimension, -mapped.stride))
    query_dimension = softmax.dimension - 1
    if query_dimension >= 0 and softmax.layout.shape[query_dimension] == 1:
        return [], ordered
    candidates = [mapped for mapped in ordered if mapped.axis == 1]
    queries = [mapped for mapped in candidates if mapped.dimension == query_dimension] or candidates[-1:]
    return queries, [mapped for mapped in ordered if mapped not in queries]
