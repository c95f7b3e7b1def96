"""The attention trace: the one value that travels from every mechanism to every chart.

A trace holds queries and keys (AttentionScores), the values, and one log-normaliser per query: memory O(n d). Scores,
mask and weights of any tile are computed when somebody looks at them, exactly, with every edit applied: weights[I, J]
= exp(scores[I, J] - log_normaliser[I]). The n x n matrix is built only for a caller who asks for all of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.scores import ScaledDot, Score
from attention_core.attention.types import ALL, AttentionOutput, Rows, Story
from attention_core.deprecated import renamed_attribute
from attention_core.device import device_of

Edits = Sequence[Any]  # of Edit, whose file, attention_core/attention/edits/edit.py, imports this one
BEFORE_ALL_EDITS, AFTER_ALL_EDITS = -1000, 1000  # below and above the apply_order of every edit
ROWS_AT_ONCE = 256
"""Queries in a block of a pass over all rows: memory stays O(n), and a block with 784 keys fits the cache."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionScores:
    """The scores, mask and weights of all pairs of queries and keys of one item; any tile, computed on demand."""

    query: Tensor  # (n_heads, n_queries, d_q)
    key: Tensor  # (n_heads, n_keys, d_k), or fewer heads where groups of query heads share one (see key_of)
    score: Score = field(default_factory=ScaledDot)  # the scoring function, query and key -> scores
    mask: Tensor | None = None  # bool, broadcastable to (n_heads, n_queries, n_keys); True = may attend
    is_causal: bool = False  # whether query i may attend to keys 0 to i only, besides the mask
    window: int | None = None  # where it is causal, how many keys up to its own a query may attend to; None = all
    # float, broadcastable to (n_heads, n_queries, n_keys), added to the scores
    bias: Tensor | None = field(default=None, repr=False)
    # broadcastable to (n_heads, n_queries), one more score in each row's softmax, which belongs to no key, so that the
    # weights of the row sum to less than 1
    sinks: Tensor | None = field(default=None, repr=False)
    has_softmax: bool = True  # whether the weights are the softmax of the scores; else they are the scores themselves
    edits: Edits = ()  # what was changed, see attention_core.attention.edits

    def __post_init__(self) -> None:
        if self.window is not None and not (self.is_causal and self.window > 0):
            raise ValueError(f"a window needs causal attention and a key at least, got {self.window}")
        object.__setattr__(self, "edits", tuple(self.edits))
        for edit in (*self.edits, *self.ordered_edits):  # each by itself, and merged: together they may be too much
            edit.check(self)

    @property
    def n_heads(self) -> int:
        return self.query.shape[0]

    @property
    def n_queries(self) -> int:
        return self.query.shape[1]

    @property
    def n_keys(self) -> int:
        return self.key.shape[1]

    def key_of(self, head: int) -> Tensor:
        """Return the keys that a head compares its queries with, (n_keys, d_k); several heads may share them."""
        return self.key[head // (self.n_heads // self.key.shape[0])]

    @cached_property
    def ordered_edits(self) -> Edits:
        """The edits in the order in which they are applied; those of one kind may be merged, see Edit.merge."""
        ordered = sorted(self.edits, key=lambda edit: (edit.apply_order, edit.name))
        by_class = [list(group) for _, group in groupby(ordered, key=type)]
        return tuple(edit for edits in by_class for edit in edits[0].merge(edits, self.n_heads))

    @cached_property
    def edited_score(self) -> Score:
        """The scoring function after the edits."""
        score = self.score
        for edit in self.edits:
            score = edit.edit_score(score, self.key.shape[-1])
        return score

    def score_multiplier(self, head: int) -> float:
        """Return what the edits multiply all scores of a head by."""
        return math.prod(edit.score_multiplier() for edit in self.edits if edit.applies_to(head))

    factor = renamed_attribute("score_multiplier")

    @property
    def has_mask(self) -> bool:
        """Whether any key may be hidden from a query, causality aside."""
        return self.mask is not None or self.window is not None or any(edit.hides for edit in self.ordered_edits)

    def changed_rows(self, head: int, edits: Edits | None = None) -> Rows:
        """Return the queries whose weights the edits, or some of them, change in a head."""
        rows: set[int] = set()
        for edit in self.ordered_edits if edits is None else edits:
            changed = edit.rows(self, head)
            if isinstance(changed, slice):
                return ALL
            rows.update(changed)
        return sorted(rows)

    def score_tile(
        self,
        head: int,
        rows: Rows = ALL,
        cols: Rows = ALL,
        *,
        dtype: torch.dtype | None = None,
        score: Score | None = None,
        before: int = AFTER_ALL_EDITS,
    ) -> Tensor:
        """Return scores before the mask, (n_rows, n_cols), with edits whose apply_order is below `before`.

        They are computed in the query's type, at least float32, or in `dtype`, and with the trace's scoring function
        or with `score`.
        """
        edits = [edit for edit in self.ordered_edits if edit.applies_to(head)]
        query = upcast_half(self.query[head, rows])
        permuted_cols = cols
        for order in (edit.key_order(self, head) for edit in edits):
            permuted_cols = permuted_cols if order is None else order[permuted_cols]
        score = self.edited_score if score is None else score
        tile = score.tile(query if dtype is None else query.to(dtype), self.key_of(head), permuted_cols)
        if self.bias is not None:
            bias = self.bias.expand(self.n_heads, self.n_queries, self.n_keys)
            tile = tile + bias[head][rows][:, permuted_cols].to(tile.dtype)
        if not edits:
            return tile
        if (factor := self.score_multiplier(head)) != 1:
            tile = tile * factor
        queries, keys = self.positions(rows, cols)
        for edit in edits:
            if edit.apply_order < before:
                edit.change_scores(self, head, queries, keys, tile)
        return tile

    def scores(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        """Return the scores before the mask, scaled, with every edit applied; (n_queries, n_keys) or a tile."""
        return self.score_tile(head, rows, cols)

    def masked_scores(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        """Return the scores, or a tile of them, with minus infinity where a query may not attend."""
        return masked(self.scores(head, rows, cols), self.allowed(head, rows, cols))

    def allowed(
        self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL, *, before: int = AFTER_ALL_EDITS
    ) -> Tensor | None:
        """Return the mask's tile, True = may attend, or None when every query may attend to every key.

        Only edits whose apply_order is below `before` count.
        """
        tile = self.mask_before_edits(head, rows, cols)
        edits = [edit for edit in self.ordered_edits if edit.apply_order < before and edit.applies_to(head)]
        if tile is None and not edits:
            return None
        queries, keys = self.positions(rows, cols)
        for edit in edits:
            hidden = edit.hidden(self, head, queries, keys)
            if hidden is not None:
                tile = ~hidden if tile is None else tile & ~hidden
        return tile if tile is None else tile.expand(len(queries), len(keys))

    @property
    def heads_of_mask(self) -> range:
        """The heads whose masks have to be computed: all, or only the first where every head has the same mask."""
        is_shared = not self.edits and (self.mask is None or self.mask.ndim < 3 or self.mask.shape[0] == 1)
        return range(1 if is_shared else self.n_heads)

    def full_mask(self, head: int) -> Tensor | None:
        """Return the mask of a head with all edits, (n_queries, n_keys); None if no head has a mask."""
        allowed = self.allowed(head)
        if allowed is None and self.has_mask:  # another head has one
            return torch.ones(self.n_queries, self.n_keys, dtype=torch.bool, device=self.query.device)
        return allowed

    def mask_before_edits(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> Tensor | None:
        """Return the mask's tile without edits, or None."""
        tile = None if self.mask is None else self.mask_of_head(head)[rows][:, cols].to(self.query.device)
        if not self.is_causal:
            return tile
        queries, keys = self.positions(rows, cols)
        past = keys <= queries[:, None]
        if self.window is not None:
            past &= keys > queries[:, None] - self.window
        return past if tile is None else tile & past

    def visible_keys(self, head: int, query: int) -> list[int]:
        """Return the keys that a query may look at, were nothing edited."""
        allowed = self.mask_before_edits(head, [query])
        return list(range(self.n_keys)) if allowed is None else allowed[0].nonzero().flatten().tolist()

    seen_keys = renamed_attribute("visible_keys")

    def mask_of_head(self, head: int) -> Tensor:
        """Return the attribute `mask`, which must not be None, for one head, (n_queries, n_keys)."""
        mask = self.mask
        assert mask is not None
        of_head = mask[head if mask.shape[0] > 1 else 0] if mask.ndim == 3 else mask
        return of_head.expand(self.n_queries, self.n_keys)

    def with_sinks(self, log_normaliser: Tensor, head: int, rows: Rows) -> Tensor:
        """Return a log-normaliser over the keys, (n_rows,), with the sinks of these rows included."""
        if self.sinks is None:
            return log_normaliser
        sinks = self.sinks.expand(self.query.shape[:2])[head, rows]
        return torch.logaddexp(log_normaliser, sinks.to(log_normaliser))

    def weight_blocks(self, head: int, rows: Rows = ALL) -> Iterator[tuple[Rows, Tensor, Tensor]]:
        """Yield (rows, weights, log-normalisers) in blocks of these rows, ALL or a sequence, over all keys.

        A query that sees no key has weights of 0. Without a softmax the log-normalisers mean nothing.
        """
        n_rows = self.n_queries if isinstance(rows, slice) else len(rows)
        for span in spans(0, n_rows, ROWS_AT_ONCE):
            block = span if isinstance(rows, slice) else rows[span]
            scores = self.masked_scores(head, block)
            if self.has_softmax:
                log_normaliser = self.with_sinks(scores.logsumexp(-1), head, block)
                if self.sinks is None:
                    weights = scores.softmax(-1)
                else:
                    weights = (scores - finite_normaliser(log_normaliser)[:, None]).exp()
            else:
                log_normaliser, weights = scores[:, 0], scores
            weights = weights.masked_fill(scores == -math.inf, 0)
            yield block, self.apply_weight_edits(weights, head, block), log_normaliser

    def weights_of(
        self, scores: Tensor, log_normaliser: Tensor | None, head: int, rows: Rows, cols: Rows = ALL
    ) -> Tensor:
        """Return the weights of a tile of scores; log_normaliser (n_rows,) is None where there is no softmax."""
        weights = self.weights_before_edits(scores, log_normaliser, head, rows, cols)
        return self.apply_weight_edits(weights, head, rows, cols)

    def weights_before_edits(
        self, scores: Tensor, log_normaliser: Tensor | None, head: int, rows: Rows, cols: Rows = ALL
    ) -> Tensor:
        """Return the weights of a tile as weights_of() does, before those edits that set weights after the softmax."""
        allowed = self.allowed(head, rows, cols)
        if log_normaliser is not None:
            scores = (scores - finite_normaliser(log_normaliser)[:, None]).exp_()  # in place: half the memory
        return scores if allowed is None else scores.masked_fill(~allowed, 0)

    def apply_weight_edits(self, weights: Tensor, head: int, rows: Rows, cols: Rows = ALL) -> Tensor:
        """Change weights in place by the edits that set weights after the softmax; return the same tensor."""
        if self.edits:
            queries, keys = self.positions(rows, cols)
            for edit in self.ordered_edits:
                if edit.applies_to(head):
                    edit.change_weights(self, head, queries, keys, weights)
        return weights

    def edited_context(self, head: int, context: Tensor) -> Tensor:
        """Return what the edits make of a head's context, (n_queries, d_v)."""
        for edit in self.ordered_edits:
            if edit.applies_to(head):
                context = edit.context(head, context)
        return context

    def positions(self, rows: Rows = ALL, cols: Rows = ALL) -> tuple[Tensor, Tensor]:
        """Return the indices of the queries and of the keys of a tile, int64 (n_rows,) and (n_cols,)."""
        device = self.query.device
        return torch.arange(self.n_queries, device=device)[rows], torch.arange(self.n_keys, device=device)[cols]


def check_pairs(*traces: AttentionScores) -> None:
    """Raise a ValueError where there is no attention, or one of no queries or no keys."""
    if not traces:
        raise ValueError("there is no attention to show")
    for trace in traces:
        if not trace.n_queries * trace.n_keys:
            raise ValueError(
                f"an attention of {trace.n_queries} queries and {trace.n_keys} keys has no weights to show"
            )


def spans(start: int, stop: int, size: int) -> Iterator[slice]:
    """Yield the slices that cut a range into parts of one size; the last one may be shorter."""
    for left in range(start, stop, size):
        yield slice(left, min(left + size, stop))


def masked(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """Return scores with minus infinity where a query may not attend; None = it may attend to every key."""
    return scores if allowed is None else scores.masked_fill(~allowed, -math.inf)


def upcast_half(tensor: Tensor) -> Tensor:
    """Return float16 and bfloat16 numbers as float32, in which scores are computed; others as they are."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def finite_normaliser(log_normaliser: Tensor) -> Tensor:
    """Return a log-normaliser with 0 instead of -inf, for queries that see no key, so that it can be subtracted."""
    return log_normaliser.masked_fill(log_normaliser == -math.inf, 0)


class Summary(NamedTuple):
    """Per-position averages of one head, computed in blocks."""

    received: Tensor  # (n_keys,) mean of each column of the weights over the chosen queries; sums to 1
    score_row_mean: Tensor  # (n_queries,) mean of each row of the scores over the keys it may attend to
    entropy: Tensor  # (n_queries,) of each row of the weights, in bits; log2(n_keys) = equal weights
    largest: Tensor  # (n_queries,) the largest weight of each row
    n_visible: Tensor  # (n_queries,) keys to which each query may attend


@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionTrace(AttentionScores):
    """What one attention layer did with one input; AttentionScores has the other attributes.

    Attributes:
        value: (n_heads, n_keys, d_v), or as few heads as the key (see value_of).
        story: what queries and keys stand for, and the steps around the attention.
        normaliser: (n_heads, n_queries), the log_normaliser if a kernel returned it; else that is computed on demand.
        fused_context: (n_heads, n_queries, d_v) as a kernel returned it; else it is computed on demand.
        dropout: probability with which the model dropped weights in this call; the weights here are without dropout.
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
        are_heads_divisible = self.key.shape[0] and self.query.shape[0] % self.key.shape[0] == 0
        if not are_heads_divisible or self.key.shape[:2] != self.value.shape[:2]:
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
        log_normaliser = upcast_half(self.query).new_empty(self.query.shape[:2])
        for head in range(self.n_heads):
            for rows in spans(0, self.n_queries, ROWS_AT_ONCE):
                log_normaliser[head, rows] = self.with_sinks(self.masked_scores(head, rows).logsumexp(-1), head, rows)
        return log_normaliser

    def weights(self, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        """Return the weights, or a tile of them; exactly 0 where a query may not attend.

        Each whole row sums to 1, or to less where a sink takes a share; without a softmax it may sum to anything.
        """
        return self._weights_of(self.scores(head, rows, cols), head, rows, cols)

    def _weights_of(self, scores: Tensor, head: int, rows: Rows, cols: Rows = ALL) -> Tensor:
        log_normaliser = self.log_normaliser[head, rows] if self.has_softmax else None
        return self.weights_of(scores, log_normaliser, head, rows, cols)

    def context(self, head: int = 0) -> Tensor:
        """Return the weighted sum of the values, (n_queries, d_v); 0 for a head that was switched off."""
        return self._context[head]

    @cached_property
    def _context(self) -> Tensor:
        if self.fused_context is not None:
            return self.fused_context
        context = upcast_half(self.query).new_empty(self.n_heads, self.n_queries, self.value.shape[-1])
        for head in range(self.n_heads):
            context[head] = self.edited_context(head, self.weighted_sum(head))
        return context

    def weighted_sum(self, head: int) -> Tensor:
        """Return the context before the edits that replace it, (n_queries, d_v)."""
        value = upcast_half(self.value_of(head))
        context = upcast_half(self.query).new_empty(self.n_queries, value.shape[-1])
        for rows, _, weights in self.blocks(head):
            context[rows] = weights @ value
        return context

    @cached_property
    def blind_queries(self) -> list[int]:
        """Queries that may attend to no key in any head; their context is 0."""
        return torch.nonzero((self.log_normaliser == -math.inf).all(0)).flatten().tolist()

    def blocks(self, head: int = 0) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Yield (rows, scores, weights) block by block, so that no caller needs the whole matrix at once."""
        for rows in spans(0, self.n_queries, ROWS_AT_ONCE):
            scores = self.scores(head, rows)
            overwritten = scores.clone() if self.edits else scores  # edits of weights work in place
            yield rows, scores, self._weights_of(overwritten, head, rows)

    def summary(self, head: int = 0, queries: Tensor | None = None) -> Summary:
        """Average a head in one pass over its blocks; `received` over `queries`, bool (n_queries,), None = all."""
        check_pairs(self)
        is_averaged = torch.ones(self.n_queries, dtype=torch.bool) if queries is None else queries.cpu()
        received = upcast_half(self.query).new_zeros(self.n_keys)
        # Filled in place: were the results of the blocks collected, the memory of the blocks could not be reused.
        score_means, entropies, largest, n_visible = received.new_empty(4, self.n_queries)
        for rows, scores, weights in self.blocks(head):
            allowed = self.allowed(head, rows)
            received += weights[is_averaged[rows].to(weights.device)].sum(0)
            largest[rows] = weights.amax(1)
            entropies[rows] = -torch.xlogy(weights, weights).sum(1) / math.log(2)
            n_visible[rows] = self.n_keys if allowed is None else allowed.sum(1).to(n_visible)
            if allowed is None:
                score_means[rows] = scores.mean(1)
            else:
                score_means[rows] = scores.masked_fill(~allowed, 0).sum(1) / n_visible[rows].clamp(min=1)
        return Summary(received / max(int(is_averaged.sum()), 1), score_means, entropies, largest, n_visible)

    def replace(self, edits: Edits) -> AttentionTrace:
        """Return the trace of the same layer on the same input with these edits instead of the present ones.

        Later layers are not recomputed: call the model with the edits for that.
        """
        return replace(self, edits=edits, normaliser=None, fused_context=None).with_story(steps_after=())

    def with_story(self, **changes: Any) -> AttentionTrace:
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
    """A model whose forward(inputs, edits=, trace=True) returns a trace of the first input."""

    input_dtype: ClassVar[torch.dtype] = torch.float32  # its inputs are converted to this

    def trace(self, item: Any, edits: Edits = ()) -> AttentionTrace:
        """Return the attention trace of one input, a tensor or array without the batch dimension that forward takes."""
        item = torch.as_tensor(item, dtype=self.input_dtype, device=device_of(self))
        with torch.inference_mode():
            return self(item[None], edits=edits, trace=True).traces[0]


def item_trace(
    query: Tensor, key: Tensor, value: Tensor, output: AttentionOutput, story: Story, **attributes: Any
) -> AttentionTrace:
    """Return the trace of a batch's first item, of query, key and value (batch, n_heads, n, d) and attend's output."""
    return AttentionTrace(
        query=query[0],
        key=key[0],
        value=value[0],
        normaliser=None if output.log_normaliser is None else output.log_normaliser[0],
        fused_context=output.context[0],
        story=story,
        **attributes,
    )
