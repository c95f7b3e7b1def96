"""Where the numbers of a tensor came from: which product, scaled, biased and masked by what.

What is remembered of a tensor is its storage: views of it, however they are made, need not be followed, since a number
is found again by its address. Nothing of the size of the scores is kept alive.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from torch import Tensor

from attention_core.attention.capture.trace_builder import FORBIDS

AxisStrides = tuple[tuple[int, int], ...]
"""(size, stride) of the dimensions that make up an axis, outermost first; a stride of 0 repeats the same numbers."""


class Layout(NamedTuple):
    """Where in its storage the numbers of a tensor lie."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, tensor: Tensor) -> Layout:
        return cls(tuple(tensor.shape), tensor.stride(), int(tensor.storage_offset()))

    def index_at(self, address: int) -> tuple[int, ...] | None:
        """Return which number lies at an address, or None where none does."""
        rest, index = address - self.offset, [0] * len(self.shape)
        for dimension in sorted(range(len(self.shape)), key=lambda d: -self.stride[d]):
            if self.stride[dimension] > 0:
                index[dimension] = min(rest // self.stride[dimension], self.shape[dimension] - 1)
                rest -= index[dimension] * self.stride[dimension]
        return None if rest else tuple(index)

    def address(self, index: Sequence[int]) -> int:
        return self.offset + sum(place * stride for place, stride in zip(index, self.stride, strict=True))

    def split(self, size: int, stride: int) -> list[tuple[int, int, int]] | None:
        """Return the (size, dimension, every) that steps of a stride go through, outermost first; None = through none.

        Every so many of the dimension are met; a dimension of -1 stands for a repetition.
        """
        parts: list[tuple[int, int, int]] = []
        while size > 1 and stride > 0:
            fitting = [d for d, (n, step) in enumerate(zip(self.shape, self.stride, strict=True)) if n > 1 and step > 0]
            fitting = [d for d in fitting if stride % self.stride[d] == 0]
            if not fitting:
                return None
            widest = max(fitting, key=lambda d: self.stride[d])
            every, n = stride // self.stride[widest], self.shape[widest]
            if every * (size - 1) < n:
                return [(size, widest, every), *parts]
            if every > 1 or size % n:
                return None
            parts.insert(0, (n, widest, 1))
            size, stride = size // n, stride * n
        return [(size, -1, 0), *parts]


class Block(NamedTuple):
    """Some numbers of a storage, along axes that may each be made up of several dimensions."""

    offset: int
    axes: tuple[AxisStrides, ...]

    @classmethod
    def whole(cls, layout: Layout) -> Block:
        return cls(layout.offset, tuple(((n, step),) for n, step in zip(layout.shape, layout.stride, strict=True)))

    def relocate(self, here: Layout, there: Layout) -> Block | None:
        """Return where the same elements lie in another layout of the same shape; None where they are scattered."""
        index = here.index_at(self.offset)
        axes = [[here.split(*part) for part in axis] for axis in self.axes]
        if index is None or any(split is None for axis in axes for split in axis):
            return None
        return Block(
            there.address(index),
            tuple(
                tuple((n, there.stride[d] * every) for split in axis for n, d, every in split or ()) for axis in axes
            ),
        )

    def of(self, tensor: Tensor) -> Tensor:
        """Return the block of a tensor's storage, with one dimension per axis; repetitions cost nothing."""
        parts = [part for axis in self.axes for part in axis]
        block = tensor.detach().as_strided([n for n, _ in parts], [step for _, step in parts], self.offset)
        return block.reshape([math.prod(n for n, _ in axis) for axis in self.axes])


@dataclass(frozen=True, eq=False)
class Product:
    """A tensor that is alpha times a product of matrices."""

    layout: Layout  # of the tensor, (n, rows, columns)
    left: Tensor  # (n, rows, d)
    right: Tensor  # (n, d, columns)
    alpha: float = 1.0  # the factor

    def factors(self, block: Block) -> tuple[Tensor, Tensor] | None:
        """Return query (n_heads, n_queries, d) and key (n_heads, n_keys, d) of a block (head, query, key)."""
        index = self.layout.index_at(block.offset)
        axes = [[self.layout.split(*part) for part in axis] for axis in block.axes]
        if index is None or any(split is None for axis in axes for split in axis):
            return None
        parts = [[part for split in axis for part in split or ()] for axis in axes]
        sides = [
            (self.left, {-1: 0, 0: self.left.stride(0), 1: self.left.stride(1), 2: 0}, (1, 2), index[1]),
            (self.right.mT, {-1: 0, 0: self.right.stride(0), 1: 0, 2: self.right.stride(2)}, (2, 1), index[2]),
        ]
        if any(d == 2 for _, d, _ in parts[1]):
            sides.reverse()
        found = []
        for (tensor, strides, (own, other), start), of_axis in zip(sides, parts[1:], strict=True):
            if any(d == other for _, d, _ in of_axis):
                return None
            d_k = tensor.shape[-1]
            axes_of = [tuple((n, strides[d] * every) for n, d, every in axis) for axis in (parts[0], of_axis)]
            offset = int(tensor.storage_offset()) + index[0] * strides[0] + start * strides[own]
            found.append(Block(offset, (*axes_of, ((d_k, tensor.stride(-1)),))).of(tensor))
        return found[0], found[1]


@dataclass(frozen=True, eq=False)
class ElementwiseStep:
    """A tensor that was made of another one, element by element."""

    kind: str  # "same", "times", "plus", "fill", "tanh", "dropout" or, of weights, "changed"
    layout: Layout  # of the tensor
    source: Origin  # how the other one was made
    before: Layout  # the layout of the other one, expanded to the shape of this one
    operand: Any = None  # what it was combined with: a number, or a tensor expanded to the shape
    more: Any = None  # alpha of "plus" (-1 for a difference), whether "times" divides, the number of "fill"


@dataclass(frozen=True, eq=False)
class Softmax:
    """A tensor of weights."""

    layout: Layout  # of the tensor
    dimension: int  # of the keys
    scores: Origin | None  # how the scores were made, if that is known
    before: Layout  # the layout of the scores


@dataclass(frozen=True, eq=False)
class MixedWeights:
    """A tensor that was made of weights in a way that no longer tells which number is which, such as talking heads."""

    weights: Tensor  # the weights, or what was made of them element by element, in the softmax's shape
    source: Origin  # how those were made

    @classmethod
    def of(cls, tensor: Tensor, made: Origin) -> MixedWeights | None:
        """Return the weights that a tensor holds; None where it holds none."""
        steps, first = steps_to(made)
        if not isinstance(first, Softmax):
            return None
        block: Block | None = Block.whole(first.layout)
        for step in reversed(steps):
            block = block and block.relocate(step.before, step.layout)
        if block is None:
            return None
        weights = block.of(tensor).contiguous()
        layout = Layout.of(weights)
        source: Origin = replace(first, layout=layout)
        for step in reversed(steps):
            source = ElementwiseStep(step.kind, layout, source, layout, None, step.more)
        return cls(weights, source)


Origin = Product | ElementwiseStep | Softmax | MixedWeights


def steps_to(made: Origin | None) -> tuple[list[ElementwiseStep], Origin | None]:
    """Return the steps that lead to a tensor, the last one first, and what they begin with."""
    steps = []
    while isinstance(made, ElementwiseStep):
        steps.append(made)
        made = made.source
    return steps, made


class ScoreInputs(NamedTuple):
    """What scores are made of; arguments of TraceBuilder.build."""

    query: Tensor  # (n_heads, n_queries, d_k)
    key: Tensor  # (n_heads, n_keys, d_k)
    scale: float  # of the dot products
    softcap: float | None  # of the scaled dot products, or None
    bias: Tensor | None  # broadcastable to (n_heads, n_queries, n_keys), or None
    hidden: Tensor | None  # bool as the bias is, True = may not attend, or None
    barred: bool  # whether minus infinity was written there, not a finite number


def score_inputs(made: Origin | None, block: Block | None) -> ScoreInputs | None:
    """Return what a block (head, query, key) of scores is made of; None where that is no plain product."""
    steps, first = steps_to(made)
    blocks = []
    for step in steps:
        blocks.append(block)
        block = None if block is None else block.relocate(step.layout, step.before)
    if not isinstance(first, Product) or block is None or (factors := first.factors(block)) is None:
        return None
    chain = _ScoreReplay(*factors, first.alpha)
    for step, place in zip(reversed(steps), reversed(blocks), strict=True):
        if not chain.take(step, place):  # type: ignore[arg-type]
            return None
    return None if chain.zeroed is not None else ScoreInputs(*(getattr(chain, name) for name in ScoreInputs._fields))


class _ScoreReplay:
    """Scores on their way from the product, step by step."""

    def __init__(self, query: Tensor, key: Tensor, scale: float) -> None:
        self.query, self.key, self.scale = query, key, scale
        self.softcap: float | None = None
        self.bias: Tensor | None = None
        self.hidden: Tensor | None = None
        self.zeroed: Tensor | None = None
        self.barred = True
        self._bent = False

    def take(self, step: ElementwiseStep, block: Block) -> bool:
        """Go one step further; False where it is none that a trace can tell."""
        operand = step.operand
        if isinstance(operand, Tensor):
            place = block.relocate(step.layout, Layout.of(operand))
            if place is None:
                return False
            operand = _collapse_repeats(place).of(operand)
        return bool(getattr(self, f"_{step.kind}", lambda *_: False)(operand, step.more))

    def _same(self, *_: Any) -> bool:
        return True

    def _times(self, factor: Any, divides: bool) -> bool:
        if isinstance(factor, Tensor) and factor.numel() == 1:
            factor = float(factor)
        factor = 1 / factor if divides else factor
        if self._bent:
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
        return not (self._bent and self.bias is not None)

    def _plus(self, added: Any, alpha: float) -> bool:
        if not isinstance(added, Tensor):
            added = self.query.new_full((1, 1, 1), float(added))
        added = added if alpha == 1 else added * alpha
        if self.zeroed is not None and not bool((self.zeroed & (added > FORBIDS)).any()):
            self.zeroed = None  # what follows forbids it
        self.bias = added if self.bias is None else self.bias + added
        return True

    def _fill(self, hidden: Tensor, number: float) -> bool:
        if number > FORBIDS:
            return False
        self.hidden = hidden if self.hidden is None else self.hidden | hidden
        self.barred = self.barred and number == -math.inf
        return True

    def _tanh(self, *_: Any) -> bool:
        self._bent, self.softcap = True, 1.0
        return self.bias is None and self.hidden is None


def _collapse_repeats(block: Block) -> Block:
    """Return a block with one of each axis that only repeats itself."""
    axes = (((1, 0),) if all(step == 0 or n == 1 for n, step in axis) else axis for axis in block.axes)
    return Block(block.offset, tuple(axes))


class ItemLayout(NamedTuple):
    """Where one item's weights (head, query, key), values and context lie when weights meet values."""

    weights: Block  # in the storage of the left factor
    value: Block  # (head, key, d) in that of the right one
    context: Block  # (head, query, d) in that of the product
    scores: Block | None  # in the storage of the scores, None where the steps cannot be told
    n_items: int  # of the batch
    apart: bool  # whether heads and items were one dimension of the scores, which the number of heads takes apart


def locate_item(
    steps: Sequence[ElementwiseStep],
    softmax: Softmax,
    left: Tensor,
    right: Tensor,
    out: Tensor,
    item: int,
    n_heads: int,
) -> ItemLayout | None:
    """Return what is where in a product of weights (n, rows, m) and values (n, m, d); None where it is none.

    Steps lead from the weights to the left factor, the last one first; out is the product, (n, rows, d). The module
    says the number of heads, 0 where it does not.
    """
    block: Block | None = Block.whole(Layout.of(left))
    for step in steps:
        block = block.relocate(step.layout, step.before) if block else None
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
        """Return the block of a factor or of the product whose dimensions 0 and 1 are the axes (-1: not there)."""
        step = {axis: tensor.stride(d) for d, axis in enumerate(axes) if axis >= 0}
        offset = int(tensor.storage_offset()) + sum(
            place * part.every * step.get(part.axis, 0) for part, place in items if part.axis in step
        )
        parts = tuple((part.n, part.every * step.get(part.axis, 0)) for part in heads) or ((1, 0),)
        of_rows = tuple((part.n, part.every * step.get(part.axis, 0)) for part in rows) or ((1, 0),)
        return Block(offset, (parts, of_rows, (last,)))

    offset = block.offset + sum(place * part.stride for part, place in items)
    of_weights = Block(
        offset,
        (
            tuple((part.n, part.stride) for part in heads) or ((1, 0),),
            tuple((part.n, part.stride) for part in rows) or ((1, 0),),
            ((left.shape[2], strides[softmax.dimension]),),
        ),
    )
    whole = left.shape[2] == softmax.layout.shape[softmax.dimension]
    value = block_of(right, (0, -1), (right.shape[2], right.stride(2)))
    return ItemLayout(
        weights=block_of(left, (0, 1), (left.shape[2], left.stride(2))),
        value=Block(value.offset, (value.axes[0], ((right.shape[1], right.stride(1)),), value.axes[2])),
        context=block_of(out, (0, 1), (out.shape[2], out.stride(2))),
        scores=of_weights.relocate(softmax.layout, softmax.before) if whole else None,
        n_items=n_items,
        apart=bool(n_heads and len(leading) == 1 and heads and heads[0].n < leading[0].n),
    )


class _DimensionMap(NamedTuple):
    """A dimension of the weights, and how the product's left factor has it: every so many steps of an axis."""

    dimension: int
    n: int
    stride: int
    axis: int
    every: int


def _dimensions(block: Block, dims: dict[int, int]) -> Iterator[_DimensionMap]:
    for axis in (0, 1):
        every = 1
        for n, stride in reversed(block.axes[axis]):
            if n > 1:
                yield _DimensionMap(dims.get(stride, -1) if stride else -1, n, stride, axis, every)
            every *= n


def _roles(parts: Iterator[_DimensionMap], softmax: Softmax) -> tuple[list[_DimensionMap], list[_DimensionMap]]:
    """Return what the rows are, and the other dimensions, outermost first."""
    found = sorted(parts)
    before = softmax.dimension - 1
    if before >= 0 and softmax.layout.shape[before] == 1:
        return [], found
    candidates = [part for part in found if part.axis == 1]
    chosen = [part for part in candidates if part.dimension == before] or candidates[-1:]
    return chosen, [part for part in found if part not in chosen]


def _has_one_head(rows: list[_DimensionMap], softmax: Softmax) -> bool:
    """Return whether the last dimension besides those of queries and keys, of two or more, is one of one head."""
    query = rows[0].dimension if rows else softmax.dimension - 1
    others = [n for d, n in enumerate(softmax.layout.shape) if d not in (query, softmax.dimension)]
    return len(others) > 1 and others[-1] == 1


def _heads_and_items(
    leading: list[_DimensionMap], n_heads: int, item: int
) -> tuple[int, list[_DimensionMap], list[tuple[_DimensionMap, int]]]:
    """Return the number of items, what the heads are, and (dimension, place of the item in it) for the others."""
    if not leading:
        return 1, [], []
    if n_heads == 1:
        places = [(part, min(item, part.n - 1) if number == 0 else 0) for number, part in enumerate(leading)]
        return math.prod(part.n for part in leading), [], places
    chosen = next((part for part in reversed(leading) if part.n == n_heads), None)
    if chosen is None and len(leading) == 1 and n_heads > 1 and leading[0].n % n_heads == 0:
        (both,) = leading  # items and heads in one dimension
        heads = both._replace(n=n_heads)
        items = both._replace(n=both.n // n_heads, stride=both.stride * n_heads, every=both.every * n_heads)
        return items.n, [heads], [(items, min(item, items.n - 1))]
    if chosen is None and len(leading) > 1 and leading[-2].n * leading[-1].n == n_heads:  # groups of heads share keys
        heads_of = leading[-2:]
    else:
        heads_of = [chosen or leading[-1]]
    others = [part for part in leading if part not in heads_of]
    n_items = math.prod(part.n for part in others)
    places = [(part, min(item, part.n - 1) if number == 0 else 0) for number, part in enumerate(others)]
    return n_items, heads_of, places
