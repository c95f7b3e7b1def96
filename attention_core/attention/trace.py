"""The attention trace: the one value that travels from every mechanism to every chart.

A trace keeps query, key, value and one normaliser per query, O(n d). Scores and weights of any tile are computed
when somebody looks at them, exactly: weights[I, J] = exp(scores[I, J] - log_normaliser[I]). The n x n matrix is built
only for a caller who asks for all of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention_core.attention.attend import ROWS_AT_ONCE, at_least_single, masked, score_tile, spans
from attention_core.attention.interventions import NO_INTERVENTION, Intervention
from attention_core.attention.scores import ScaledDot, Score
from attention_core.attention.types import ALL, Rows, Story


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
        query: (n_heads, n_queries, d_q).
        key: (n_heads, n_keys, d_k), or fewer heads where groups of query heads share one (see key_of).
        value: (n_heads, n_keys, d_v), or as few heads as the key (see value_of).
        story: what queries and keys stand for, and the steps around the attention.
        score: the scoring function, query and key -> scores.
        mask: bool, broadcastable to (n_heads, n_queries, n_keys); True = may attend.
        is_causal: query i may attend to keys 0 to i only, besides the mask; costs no memory.
        bias: float, broadcastable to (n_heads, n_queries, n_keys), added to the scores; part of them from then on.
        sinks: broadcastable to (n_heads, n_queries), a score in each row's normaliser that belongs to no key, so that
            the weights of the row sum to less than 1.
        has_softmax: whether the weights are the softmax of the scores; else they are the scores themselves.
        intervention: edits that were applied inside the attention.
        normaliser: (n_heads, n_queries) log-sum-exp of the masked scores if the kernel gave it.
        fused_context: (n_heads, n_queries, d_v) as the model used it, if it was kept.
        dropout: probability with which the model dropped weights in this call; the weights here are those before.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    story: Story
    score: Score = field(default_factory=ScaledDot)
    mask: Tensor | None = None
    is_causal: bool = False
    bias: Tensor | None = field(default=None, repr=False)
    sinks: Tensor | None = field(default=None, repr=False)
    has_softmax: bool = True
    intervention: Intervention = NO_INTERVENTION
    normaliser: Tensor | None = field(default=None, repr=False)
    fused_context: Tensor | None = field(default=None, repr=False)
    dropout: float = 0.0

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
        if len(self.story.query_axis) != self.n_queries or len(self.story.key_axis) != self.n_keys:
            raise ValueError(
                f"{len(self.story.query_axis)} query labels for {self.n_queries} queries, "
                f"{len(self.story.key_axis)} key labels for {self.n_keys} keys"
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
            for rows in spans(0, self.n_queries, ROWS_AT_ONCE):
                normaliser[head, rows] = self.with_sinks(self.masked_scores(head, rows).logsumexp(-1), head, rows)
        return normaliser

    def with_sinks(self, normaliser: Tensor, head: int, rows: Rows) -> Tensor:
        """Return a normaliser of keys alone, (n_rows,), with what the sinks of these rows add to it."""
        if self.sinks is None:
            return normaliser
        return torch.logaddexp(normaliser, self.sinks.expand(self.query.shape[:2])[head, rows].to(normaliser))

    def scores(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        """Return the scores before the mask, scaled, with every edit applied; (n_queries, n_keys) or a tile."""
        return score_tile(self.query, self.key, self.score, self.intervention, head, rows, cols, self.bias)

    def masked_scores(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        """Return the scores, or a tile of them, with minus infinity where a query may not attend."""
        return masked(self.scores(head, rows, cols), self.allowed(head, rows, cols))

    def allowed(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> Tensor | None:
        """Return the mask's tile, True = may attend, or None when every query may attend to every key."""
        device = self.query.device
        full = self.intervention.full_mask(self.mask, self.n_heads, self.n_queries, self.n_keys, device)
        tile = None if full is None else full[min(head, full.shape[0] - 1)][rows][:, cols].to(device)
        if not self.is_causal:
            return tile
        queries = torch.arange(self.n_queries, device=device)[rows]
        keys = torch.arange(self.n_keys, device=device)[cols]
        past = keys <= queries[:, None]
        return past if tile is None else tile & past

    def weights(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        """Return the weights: masked cells are exactly 0, blind queries are all 0.

        Each whole row sums to 1, or to less where a sink takes its share; without a softmax to anything.
        """
        return self._weights_of(self.scores(head, rows, cols), head, rows, cols)

    def _weights_of(self, scores: Tensor, head: int, rows: Rows, cols: Rows = ALL) -> Tensor:
        allowed = self.allowed(head, rows, cols)
        if not self.has_softmax:
            return scores if allowed is None else scores.masked_fill(~allowed, 0)
        return weights_from(scores, self.log_normaliser[head, rows], allowed)

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
        for rows in spans(0, self.n_queries, ROWS_AT_ONCE):
            scores = self.scores(head, rows)
            yield rows, scores, self._weights_of(scores, head, rows)

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
        edited = replace(self, intervention=intervention, normaliser=None, fused_context=None)
        return edited.retold(steps_after=(), withheld=())

    def retold(self, **changes: Any) -> AttentionTrace:
        """Return the same numbers with another story: changes are fields of Story, such as name or key_axis."""
        return replace(self, story=replace(self.story, **changes))


def weights_from(scores: Tensor, log_normaliser: Tensor, allowed: Tensor | None) -> Tensor:
    """Return the weights of scores (n_rows, n_cols) whose rows have these normalisers, -inf for a blind query."""
    weights = (scores - finite(log_normaliser)[:, None]).exp_()  # in place: half the memory
    return weights if allowed is None else weights.masked_fill(~allowed, 0)


def finite(log_normaliser: Tensor) -> Tensor:
    """Return a normaliser with 0 in place of the -inf of queries that see no key, so that it can be subtracted."""
    return log_normaliser.masked_fill(log_normaliser == -math.inf, 0)


class Prediction(NamedTuple):
    """What a model returns.

    Attributes:
        logits: (batch, n_classes).
        traces: one per attention layer, in order, of the batch's first item; empty unless asked for.
    """

    logits: Tensor
    traces: tuple[AttentionTrace, ...] = ()
