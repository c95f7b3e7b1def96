"""The attention trace: the one value that travels from every mechanism to every chart.

A trace keeps query, key, value and one normaliser per query, O(n d). Scores and weights of any tile are computed
when somebody looks at them, exactly: weights[I, J] = exp(scores[I, J] - log_normaliser[I]). The n x n matrix is built
only for a caller who asks for all of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from attention_core.attention.attend import ROWS_AT_ONCE, at_least_single, score_tile
from attention_core.attention.interventions import NO_INTERVENTION, Intervention
from attention_core.attention.scores import ScaledDot, Score

if TYPE_CHECKING:
    import pandas as pd

Rows = slice | Sequence[int] | Tensor
ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Axis:
    """What the rows or columns of a matrix stand for.

    Attributes:
        name: plural noun, such as "pixels", "source words", "dimensions".
        labels: one text per position.
        grid: (rows, columns) when the positions came from a picture, so that charts can draw one.
    """

    name: str
    labels: Sequence[str]
    grid: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.grid and self.grid[0] * self.grid[1] != len(self.labels):
            raise ValueError(f"grid {self.grid} has {self.grid[0] * self.grid[1]} cells for {len(self.labels)} labels")

    def __len__(self) -> int:
        return len(self.labels)

    @staticmethod
    def numbered(name: str, n: int) -> Axis:
        """Return an axis whose labels are 0 to n - 1."""
        return Axis(name, [str(position) for position in range(n)])

    @staticmethod
    @lru_cache(maxsize=16)
    def picture(name: str, height: int, width: int) -> Axis:
        """Return an axis over the cells of a picture in reading order, labelled "row 3, column 17"."""
        labels = [f"row {row}, column {column}" for row in range(height) for column in range(width)]
        return Axis(name, labels, (height, width))


class Role(StrEnum):
    """What a matrix is in the story of attention; each role has one colour on every page."""

    INPUT = "input"
    QUERY = "query"
    KEY = "key"
    VALUE = "value"
    SCORES = "scores"
    WEIGHTS = "weights"
    CONTEXT = "context"
    OUTPUT = "output"


@dataclass(frozen=True, eq=False)
class Step:
    """One thing a person can stop at.

    Attributes:
        name: short identifier, unique within a trace, such as "scores".
        title: a heading, such as "Scores".
        symbol: the text on the stepper's chip, such as "QKᵀ".
        formula: LaTeX.
        code: the one to three lines of PyTorch that compute it.
        explanation: one to three sentences.
        role: decides the colour.
        row_axis: what the rows stand for.
        col_axis: what the columns stand for.
        compute: (head, rows, cols) -> Tensor, called when somebody looks.
    """

    name: str
    title: str
    symbol: str
    formula: str
    code: str
    explanation: str
    role: Role
    row_axis: Axis
    col_axis: Axis
    compute: Callable[[int, Rows, Rows], Tensor] = field(repr=False)

    def value(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        """Return the step's matrix, or a tile of it, (n_rows, n_cols)."""
        return self.compute(head, rows, cols)

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_cols) of the whole matrix, known without computing it."""
        return len(self.row_axis), len(self.col_axis)


class Summary(NamedTuple):
    """Per-position averages of one head, computed in blocks.

    Attributes:
        received: (n_keys,) mean of each column of the weights over the chosen queries; sums to 1.
        score_row_mean: (n_queries,) mean of each row of the scores over the keys it may attend to.
        entropy: (n_queries,) of each row of the weights, in bits; log2(n_keys) = looks everywhere alike.
        largest: (n_queries,) the largest weight of each row.
    """

    received: Tensor
    score_row_mean: Tensor
    entropy: Tensor
    largest: Tensor


@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionTrace:
    """What one attention layer did with one input.

    Attributes:
        mechanism: its name for people, such as "self-attention over pixels".
        query: (n_heads, n_queries, d_q).
        key: (n_heads, n_keys, d_k), or fewer heads where groups of query heads share one (see key_of).
        value: (n_heads, n_keys, d_v), or as few heads as the key (see value_of).
        query_axis: what the queries stand for.
        key_axis: what the keys stand for.
        score: the scoring function, query and key -> scores.
        mask: bool, broadcastable to (n_heads, n_queries, n_keys); True = may attend.
        is_causal: query i may attend to keys 0 to i only, besides the mask; costs no memory.
        bias: float, broadcastable to (n_heads, n_queries, n_keys), added to the scores; part of them from then on.
        sinks: broadcastable to (n_heads, n_queries), a score in each row's normaliser that belongs to no key, so that
            the weights of the row sum to less than 1.
        intervention: edits that were applied inside the attention.
        value_axis: what the columns of values and context stand for; numbered from 0 if None.
        steps_before: steps that lead to query, key and value.
        steps_after: steps that follow the context.
        shows_masked: whether the values times their weights are a step of their own, before they are summed; for
            traces of one query.
        shows_vectors: whether query, key and value are steps of their own, for traces whose steps_before are not.
        normaliser: (n_heads, n_queries) log-sum-exp of the masked scores if the kernel gave it.
        fused_context: (n_heads, n_queries, d_v) as the model used it, if it was kept.
        name: which attention of its model this is, such as "decoder.3.cross"; empty where there is only one.
        dropout: probability with which the model dropped weights in this call; the weights here are those before.
        note: what a reader has to know about where the numbers come from; empty if nothing is unusual.
    """

    mechanism: str
    query: Tensor
    key: Tensor
    value: Tensor
    query_axis: Axis
    key_axis: Axis
    score: Score = field(default_factory=ScaledDot)
    mask: Tensor | None = None
    is_causal: bool = False
    bias: Tensor | None = field(default=None, repr=False)
    sinks: Tensor | None = field(default=None, repr=False)
    intervention: Intervention = NO_INTERVENTION
    value_axis: Axis | None = None
    steps_before: tuple[Step, ...] = ()
    steps_after: tuple[Step, ...] = ()
    shows_masked: bool = False
    shows_vectors: bool = False
    normaliser: Tensor | None = field(default=None, repr=False)
    fused_context: Tensor | None = field(default=None, repr=False)
    name: str = ""
    dropout: float = 0.0
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("query", "key", "value"):
            if getattr(self, name).ndim != 3:
                raise ValueError(f"{name} must be (n_heads, n, d), got {tuple(getattr(self, name).shape)}")
        shared = self.key.shape[0] and self.query.shape[0] % self.key.shape[0] == 0
        if not shared or self.key.shape[:2] != self.value.shape[:2]:
            raise ValueError(
                f"query {tuple(self.query.shape)}, key {tuple(self.key.shape)} and value {tuple(self.value.shape)} "
                "need the same n_heads (or a number of query heads per key head), key and value the same n_keys"
            )
        if len(self.query_axis) != self.n_queries or len(self.key_axis) != self.n_keys:
            raise ValueError(
                f"{len(self.query_axis)} query labels for {self.n_queries} queries, "
                f"{len(self.key_axis)} key labels for {self.n_keys} keys"
            )

    @property
    def n_heads(self) -> int:
        """Number of heads."""
        return self.query.shape[0]

    @property
    def n_queries(self) -> int:
        """Number of rows of the weights."""
        return self.query.shape[1]

    @property
    def n_keys(self) -> int:
        """Number of columns of the weights."""
        return self.key.shape[1]

    def key_of(self, head: int) -> Tensor:
        """Return the keys that a head compares its queries with, (n_keys, d_k); several heads may share them."""
        return self.key[head // (self.n_heads // self.key.shape[0])]

    def value_of(self, head: int) -> Tensor:
        """Return the values that a head collects, (n_keys, d_v); several heads may share them."""
        return self.value[head // (self.n_heads // self.value.shape[0])]

    @cached_property
    def log_normaliser(self) -> Tensor:
        """(n_heads, n_queries) log-sum-exp of each row's masked scores; -inf for a query that sees no key."""
        if self.normaliser is not None:
            return self.normaliser
        normaliser = at_least_single(self.query).new_empty(self.query.shape[:2])
        for head in range(self.n_heads):
            for start in range(0, self.n_queries, ROWS_AT_ONCE):
                rows = slice(start, min(start + ROWS_AT_ONCE, self.n_queries))
                scores, allowed = self.scores(head, rows), self.allowed(head, rows)
                if allowed is not None:
                    scores = scores.masked_fill(~allowed, -math.inf)
                normaliser[head, rows] = scores.logsumexp(-1)
        return normaliser if self.sinks is None else torch.logaddexp(normaliser, self.sinks.to(normaliser))

    def scores(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        """Return the scores before the mask, scaled, with every edit applied; (n_queries, n_keys) or a tile."""
        return score_tile(self.query, self.key, self.score, self.intervention, head, rows, cols, self.bias)

    def allowed(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> Tensor | None:
        """Return the mask's tile, True = may attend, or None when every query may attend to every key."""
        full = self.intervention.full_mask(self.mask, self.n_heads, self.n_queries, self.n_keys)
        tile = None if full is None else full[min(head, full.shape[0] - 1)][rows][:, cols].to(self.query.device)
        if not self.is_causal:
            return tile
        queries = torch.arange(self.n_queries, device=self.query.device)[rows]
        keys = torch.arange(self.n_keys, device=self.query.device)[cols]
        past = keys <= queries[:, None]
        return past if tile is None else tile & past

    def weights(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        """Return the weights: masked cells are exactly 0, blind queries are all 0.

        Each whole row sums to 1, or to less where a sink takes its share.
        """
        return self._weights_of(self.scores(head, rows, cols), head, rows, cols)

    def _weights_of(self, scores: Tensor, head: int, rows: Rows, cols: Rows) -> Tensor:
        allowed = self.allowed(head, rows, cols)
        normaliser = self.log_normaliser[head, rows, None]
        weights = (scores - normaliser.masked_fill(normaliser == -math.inf, 0)).exp_()  # in place: half the memory
        return weights if allowed is None else weights.masked_fill(~allowed, 0)

    def context(self, head: int = 0) -> Tensor:
        """Return the weighted sum of the values, (n_queries, d_v); 0 for a head that was switched off."""
        return self._context[head]

    @cached_property
    def _context(self) -> Tensor:
        if self.fused_context is not None:
            return self.fused_context
        merged = at_least_single(self.query).new_empty(self.n_heads, self.n_queries, self.value.shape[-1])
        for head in range(self.n_heads):
            value = at_least_single(self.value_of(head))
            for rows, _, weights in self.blocks(head):
                merged[head, rows] = weights @ value
        if self.intervention.ablated_heads:
            merged[list(self.intervention.ablated_heads)] = 0
        return merged

    @cached_property
    def blind_queries(self) -> list[int]:
        """Queries that may attend to no key in any head; their context is 0."""
        return torch.nonzero((self.log_normaliser == -math.inf).all(0)).flatten().tolist()

    def blocks(self, head: int = 0) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Yield (rows, scores, weights) block by block, so that no caller needs the whole matrix at once."""
        for start in range(0, self.n_queries, ROWS_AT_ONCE):
            rows = slice(start, min(start + ROWS_AT_ONCE, self.n_queries))
            scores = self.scores(head, rows)
            yield rows, scores, self._weights_of(scores, head, rows, ALL)

    def summary(self, head: int = 0, queries: Tensor | None = None) -> Summary:
        """Average the head in one pass over its blocks.

        Args:
            head: which head, from 0.
            queries: bool (n_queries,), the queries over which `received` averages; None = all.
        """
        chosen = torch.ones(self.n_queries, dtype=torch.bool) if queries is None else queries.cpu()
        received = at_least_single(self.query).new_zeros(self.n_keys)
        # Filled in place: a small result kept from every block would keep the memory of the block from being reused.
        means, entropies, largest = received.new_empty(3, self.n_queries)
        for rows, scores, weights in self.blocks(head):
            allowed = self.allowed(head, rows)
            received += weights[chosen[rows].to(weights.device)].sum(0)
            largest[rows] = weights.amax(1)
            entropies[rows] = -torch.xlogy(weights, weights).sum(1) / math.log(2)
            if allowed is None:
                means[rows] = scores.mean(1)
            else:
                means[rows] = scores.masked_fill(~allowed, 0).sum(1) / allowed.sum(1).clamp(min=1)
        return Summary(received / max(int(chosen.sum()), 1), means, entropies, largest)

    def replace(self, intervention: Intervention) -> AttentionTrace:
        """Return the trace of the same layer on the same input with these edits instead of the present ones.

        Later layers are not recomputed: call the model with the intervention for that.
        """
        return replace(self, intervention=intervention, normaliser=None, fused_context=None, steps_after=())

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps in order: towards query, key, value; scores; mask if there is one; weights; context; after."""
        from attention_core.attention.steps import attention_steps, vector_steps

        vectors = vector_steps(self) if self.shows_vectors else ()
        return self.steps_before + vectors + attention_steps(self) + self.steps_after

    def step(self, name: str) -> Step:
        """Return the step of that name.

        Raises:
            KeyError: the trace has no such step.
        """
        for step in self.steps:
            if step.name == name:
                return step
        raise KeyError(f"no step {name!r}, there are {[step.name for step in self.steps]}")

    def to_frame(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> pd.DataFrame:
        """Return one row per cell: query, key (positions), their labels, score, weight."""
        from attention_core.attention.export import trace_to_frame

        return trace_to_frame(self, head, rows, cols)

    def to_npz(self) -> bytes:
        """Return query, key, value, mask, normaliser and context as a compressed .npz file."""
        from attention_core.attention.export import trace_to_npz

        return trace_to_npz(self)

    def to_code(self) -> str:
        """Return a stand-alone PyTorch script that computes the same weights and context from the .npz file."""
        from attention_core.attention.export import trace_to_code

        return trace_to_code(self)


class Prediction(NamedTuple):
    """What a model returns.

    Attributes:
        logits: (batch, n_classes).
        traces: one per attention layer, in order, of the batch's first item; empty unless asked for.
    """

    logits: Tensor
    traces: tuple[AttentionTrace, ...] = ()
