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
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.attend import Attended
from attention_core.attention.edits import Edits
from attention_core.attention.pairs import ROWS_AT_ONCE, Pairs, at_least_single, spans
from attention_core.attention.types import ALL, Rows, Story
from attention_core.device import device_of


class Summary(NamedTuple):
    """Per-position averages of one head, computed in blocks."""

    received: Tensor  # (n_keys,) mean of each column of the weights over the chosen queries; sums to 1
    score_row_mean: Tensor  # (n_queries,) mean of each row of the scores over the keys it may attend to
    entropy: Tensor  # (n_queries,) of each row of the weights, in bits; log2(n_keys) = looks everywhere alike
    largest: Tensor  # (n_queries,) the largest weight of each row


@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionTrace(Pairs):
    """What one attention layer did with one input; its pairs' attributes stand at Pairs.

    Attributes:
        value: (n_heads, n_keys, d_v), or as few heads as the key (see value_of).
        story: what queries and keys stand for, and the steps around the attention.
        normaliser: (n_heads, n_queries) log-sum-exp of the masked scores if the kernel gave it.
        fused_context: (n_heads, n_queries, d_v) as the model used it, if it was kept.
        dropout: probability with which the model dropped weights in this call; the weights here are those before.
    """

    value: Tensor
    story: Story
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
        super().__post_init__()

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
                normaliser[head, rows] = self.row_normaliser(head, rows)
        return normaliser

    def weights(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        """Return the weights: masked cells are exactly 0, blind queries are all 0.

        Each whole row sums to 1, or to less where a sink takes its share; without a softmax to anything.
        """
        return self._weights_of(self.scores(head, rows, cols), head, rows, cols)

    def _weights_of(self, scores: Tensor, head: int, rows: Rows, cols: Rows = ALL) -> Tensor:
        normaliser = self.log_normaliser[head, rows] if self.has_softmax else None
        return self.weights_of(scores, normaliser, head, rows, cols)

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
            for edit in self.edits:
                merged[head] = edit.context(head, merged[head])
        return merged

    @cached_property
    def blind_queries(self) -> list[int]:
        """Queries that may attend to no key in any head; their context is 0."""
        return torch.nonzero((self.log_normaliser == -math.inf).all(0)).flatten().tolist()

    def blocks(self, head: int = 0) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Yield (rows, scores, weights) block by block, so that no caller needs the whole matrix at once."""
        for rows in spans(0, self.n_queries, ROWS_AT_ONCE):
            scores = self.scores(head, rows)
            yield rows, scores, self._weights_of(scores.clone() if self.edits else scores, head, rows)

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

    def replace(self, edits: Edits) -> AttentionTrace:
        """Return the trace of the same layer on the same input with these edits instead of the present ones.

        Later layers are not recomputed: call the model with the edits for that.
        """
        edited = replace(self, edits=edits, normaliser=None, fused_context=None)
        return edited.retold(steps_after=(), withheld=())

    def retold(self, **changes: Any) -> AttentionTrace:
        """Return the same numbers with another story: changes are fields of Story, such as name or key_axis."""
        return replace(self, story=replace(self.story, **changes))


class Prediction(NamedTuple):
    """What a model returns.

    Attributes:
        logits: (batch, n_classes).
        traces: one per attention layer, in order, of the batch's first item; empty unless asked for.
    """

    logits: Tensor
    traces: tuple[AttentionTrace, ...] = ()


class TracedModel(nn.Module):
    """A model whose forward(inputs, edits=, trace=True) gives a trace of the first input."""

    takes: ClassVar[torch.dtype] = torch.float32

    def trace(self, one: Any, edits: Edits = ()) -> AttentionTrace:
        """Return the attention trace of one input, a tensor or an array of the shape that forward takes many of."""
        one = torch.as_tensor(one, dtype=self.takes, device=device_of(self))
        with torch.inference_mode():
            return self(one[None], edits=edits, trace=True).traces[0]


def first_trace(
    query: Tensor, key: Tensor, value: Tensor, attended: Attended, story: Story, **more: Any
) -> AttentionTrace:
    """Return the trace of a batch's first item: query, key and value (batch, n_heads, n, d), and what it collected."""
    return AttentionTrace(
        query=query[0],
        key=key[0],
        value=value[0],
        normaliser=None if attended.log_normaliser is None else attended.log_normaliser[0],
        fused_context=attended.context[0],
        story=story,
        **more,
    )
