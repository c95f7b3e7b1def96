"""Edits that replace what a head computes: its weights, or what it hands over, by given numbers or another run's."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import torch
from torch import Tensor

from attention_core.attention.edits.edit import (
    Edit,
    EditError,
    Edits,
    EditTarget,
    HeadEdit,
    HeadRef,
    QueryEdit,
    check_range,
    position_label,
    register,
)
from attention_core.attention.trace import AttentionScores

ROUND_OFF = 1e-6  # a sum of weights that is this close to 1 counts as 1 when edits are checked
FULL_ROW = 1 - 1e-9  # set weights with this sum leave nothing for the other keys of the row
FAR_ABOVE_SINK = 40.0  # a score this far above a sink leaves the sink a weight of e^-40, which float64 rounds to 0


@register
@dataclass(frozen=True)
class OutputFrom(HeadEdit):
    """A head hands over the output of a head of another run.

    Attributes:
        head: whose context is replaced, from 0.
        run: the head whose output it takes.
        output: (n_queries, d_v), which with_runs() fills in.
    """

    name = "output from"
    template = "head {head} hands over what {run} did"
    target = "context"

    head: int
    run: HeadRef
    output: Tensor | None = field(default=None, compare=False, repr=False)

    def context(self, head: int, context: Tensor) -> Tensor:
        if self.output is None:
            raise EditError(f"the output of {self.run} is not here yet: with_runs() fills it in")
        if self.output.shape != context.shape:
            raise EditError(f"{self.run} hands over {tuple(self.output.shape)}, here it is {tuple(context.shape)}")
        return self.output.to(context)

    def restrict_queries(self, first: int, n: int, n_times: int) -> list[Edit]:
        rows = None if self.output is None else self.output[first : first + n].repeat(n_times, 1)
        return [OutputFrom(self.head, self.run, rows)]


@register
@dataclass(frozen=True)
class SetWeights(QueryEdit):
    """One query gives some keys these weights, in one head or in all; the other keys share the rest in proportion.

    It sets scores: a weight p has the score log(p) - log(1 - sum of the set weights) + logsumexp(scores of the other
    keys), so that the softmax gives it exactly. A weight of 0 hides its key; weights that sum to 1 hide all other keys.
    Without a softmax, or if not renormalised, it sets the weights themselves, and the other weights stay.

    Attributes:
        query: the row.
        weights: (key, weight) pairs.
        head: from 0; None = all.
        renormalised: whether the other weights shrink or grow so that the row keeps its sum.
    """

    name = "set weights"
    apply_order = 3

    query: int
    weights: tuple[tuple[int, float], ...]
    head: int | None = None
    renormalised: bool = True

    @classmethod
    def merge(cls, edits: Sequence[Self], n_heads: int) -> Sequence[Edit]:
        """Return one edit for each row of each head; of two weights for one cell the later one counts."""
        rows: dict[tuple[int, int, bool], dict[int, float]] = {}
        for edit in edits:
            for head in filter(edit.applies_to, range(n_heads)):
                rows.setdefault((edit.query, head, edit.renormalised), {}).update(edit.weights)
        return [
            cls(query, tuple(cells.items()), head, renormalised) for (query, head, renormalised), cells in rows.items()
        ]

    def check(self, attention: AttentionScores) -> None:
        super().check(attention)
        check_range(attention.n_keys, "key", *(key for key, _ in self.weights))
        if not all(math.isfinite(weight) for _, weight in self.weights):
            raise EditError("a weight must be a finite number")
        if attention.has_softmax and min((weight for _, weight in self.weights), default=0) < 0:
            raise EditError("a weight of a softmax cannot be negative")
        if self._is_renormalised(attention) and self._total > 1 + ROUND_OFF:
            raise EditError(f"the weights of a row sum to 1 at most, got {self._total:.6g} for query {self.query}")
        for head in filter(self.applies_to, range(attention.n_heads)):
            self._check_row(attention, head)

    def _check_row(self, attention: AttentionScores, head: int) -> None:
        allowed = attention.allowed(head, [self.query], before=self.apply_order)
        set_keys = [key for key, weight in self.weights if weight != 0]
        if allowed is not None and not allowed[0, set_keys].all():
            raise EditError(f"query {self.query} may not look at all of these keys, so they cannot have a weight")
        unset_keys = torch.ones(attention.n_keys, dtype=torch.bool) if allowed is None else allowed[0].cpu().clone()
        unset_keys[[key for key, _ in self.weights]] = False
        needs_unset_keys = self._is_renormalised(attention) and self._total < 1 - ROUND_OFF and attention.sinks is None
        if needs_unset_keys and set_keys and not unset_keys.any():
            raise EditError(f"nothing is left in the row of query {self.query} that could take the other weight")

    def with_keys(self, index_of: Callable[[int], int | None]) -> list[Edit]:
        moved = ((index_of(key), weight) for key, weight in self.weights)
        return [replace(self, weights=tuple((key, weight) for key, weight in moved if key is not None))]

    @property
    def hides(self) -> bool:  # type: ignore[override]
        return self.renormalised and (self._total >= FULL_ROW or any(weight == 0 for _, weight in self.weights))

    @property
    def _total(self) -> float:
        return sum(weight for _, weight in self.weights)

    def _is_renormalised(self, attention: AttentionScores) -> bool:
        return self.renormalised and attention.has_softmax

    def target_in(self, attention: AttentionScores) -> EditTarget:
        return "scores" if self._is_renormalised(attention) else "weights"

    def hidden(self, attention: AttentionScores, head: int, queries: Tensor, keys: Tensor) -> Tensor | None:
        if not self._is_renormalised(attention):
            return None
        fills_row = self._total >= FULL_ROW
        listed = [key for key, weight in self.weights if (weight > 0 if fills_row else weight == 0)]
        is_listed = torch.isin(keys, torch.tensor(listed, dtype=keys.dtype, device=keys.device))
        return (queries == self.query)[:, None] & (~is_listed if fills_row else is_listed)

    def change_scores(self, attention: AttentionScores, head: int, queries: Tensor, keys: Tensor, tile: Tensor) -> None:
        rows = (queries == self.query).nonzero()
        set_cells = [(key, weight) for key, weight in self.weights if weight > 0]
        if not self._is_renormalised(attention) or not len(rows) or not set_cells:
            return
        allowed = attention.allowed(head, [self.query])
        row = attention.score_tile(head, [self.query], dtype=tile.dtype, before=self.apply_order)[0].clone()
        if allowed is not None:
            row[~allowed[0]] = -math.inf
        row[[key for key, _ in set_cells]] = -math.inf
        unset_normaliser = float(attention.with_sinks(row.logsumexp(0)[None], head, [self.query])[0])
        if unset_normaliser == -math.inf:
            base = 0.0
        elif self._total >= FULL_ROW:
            base = unset_normaliser + FAR_ABOVE_SINK
        else:
            base = unset_normaliser - math.log1p(-self._total)
        for key, weight in set_cells:
            tile[rows, (keys == key).nonzero().T] = base + math.log(weight)

    def change_weights(
        self, attention: AttentionScores, head: int, queries: Tensor, keys: Tensor, tile: Tensor
    ) -> None:
        rows = (queries == self.query).nonzero()
        if self._is_renormalised(attention) or not len(rows):
            return
        for key, weight in self.weights:
            tile[rows, (keys == key).nonzero().T] = weight

    def describe(
        self, queries: Sequence[str] = (), keys: Sequence[str] = (), attention: AttentionScores | None = None
    ) -> str:
        weights, query_label = dict(self.weights), position_label(queries, self.query, "query")
        set_texts = [f"{position_label(keys, key, 'key')} a weight of {weight:.4g}" for key, weight in weights.items()]
        unset_text = "the others get nothing" if sum(weights.values()) >= FULL_ROW else "the others share the rest"
        is_shared = self.renormalised if attention is None else self._is_renormalised(attention)
        visible = range(len(keys)) if attention is None else attention.visible_keys(self.head or 0, self.query)
        are_all_set = visible and weights.keys() >= {*visible}
        suffix = "" if are_all_set else f"; {unset_text}" if is_shared else ", and the other weights stay"
        clause = f"gives {', '.join(set_texts)}{suffix}" if set_texts else "looks as before"
        return f"{query_label} {clause}{self.head_suffix}"


@register
@dataclass(frozen=True)
class PatternFrom(HeadEdit):
    """A head has the weights of a head of another run; its values stay its own.

    Attributes:
        head: whose weights are replaced, from 0.
        run: the head whose weights it takes.
        pattern: (n_queries, n_keys), which with_runs() fills in.
    """

    name = "pattern from"
    template = "head {head} looks as {run}"
    apply_order = 1
    hides = True

    head: int
    run: HeadRef
    pattern: Tensor | None = field(default=None, compare=False, repr=False)

    def check(self, attention: AttentionScores) -> None:
        super().check(attention)
        pattern, expected = self._pattern_for(attention), (attention.n_queries, attention.n_keys)
        if pattern.shape != expected:
            raise EditError(f"{self.run} has weights for {tuple(pattern.shape)} queries and keys, here are {expected}")
        allowed = attention.mask_before_edits(self.head)
        if allowed is not None and bool((pattern > 0)[~allowed].any()):
            raise EditError(f"{self.run} looks where a query may not look here")

    def _pattern_for(self, attention: AttentionScores) -> Tensor:
        """Return the pattern without those rows and columns that this attention does not have, or not yet."""
        if self.pattern is None:
            raise EditError(f"the weights of {self.run} are not here yet: with_runs() fills them in")
        pattern = self.pattern.to(attention.query.device)
        if pattern.shape[1] == attention.n_keys:
            pattern = pattern[: attention.n_queries]  # this run may have fewer, such as a reader that looks less often
        future = pattern[:, attention.n_keys :]  # keys that a decoder, going word by word, has not reached yet
        return pattern[:, : attention.n_keys] if future.numel() and not future.any() else pattern

    def target_in(self, attention: AttentionScores) -> EditTarget:
        return "scores" if attention.has_softmax else "weights"

    def hidden(self, attention: AttentionScores, head: int, queries: Tensor, keys: Tensor) -> Tensor | None:
        return self._pattern_for(attention)[queries][:, keys] == 0 if attention.has_softmax else None

    def change_scores(self, attention: AttentionScores, head: int, queries: Tensor, keys: Tensor, tile: Tensor) -> None:
        if not attention.has_softmax:
            return
        pattern = self._pattern_for(attention)[queries].to(tile)
        base = tile.new_zeros(len(queries), 1)
        if attention.sinks is not None:
            sinks = attention.with_sinks(torch.full_like(base[:, 0], -torch.inf), head, queries)[:, None]
            sink_weights = 1 - pattern.sum(1, keepdim=True)
            above_sinks = -sink_weights.clamp(min=ROUND_OFF).log()
            base = sinks + torch.where(sink_weights > ROUND_OFF, above_sinks, FAR_ABOVE_SINK)
        tile.copy_(pattern[:, keys].log() + base)
        tile.masked_fill_(pattern[:, keys] == 0, 0)  # hidden cells: any finite number

    def change_weights(
        self, attention: AttentionScores, head: int, queries: Tensor, keys: Tensor, tile: Tensor
    ) -> None:
        if not attention.has_softmax:
            tile.copy_(self._pattern_for(attention)[queries][:, keys])

    def restrict_queries(self, first: int, n: int, n_times: int) -> list[Edit]:
        rows = None if self.pattern is None else self.pattern[first : first + n].repeat(n_times, 1)
        return [PatternFrom(self.head, self.run, rows)]


@dataclass(frozen=True, eq=False)
class BatchWeights(Edit):
    """The weights of every query are these numbers: for many variants of one attention in one batch.

    No trace can hold it, since a trace computes its weights from scores. The numbers may need gradients.
    """

    name = "given weights"
    template = "all weights are given"
    target = "weights"

    weights: Tensor  # broadcastable to (batch, n_heads, n_queries, n_keys)

    def check(self, attention: AttentionScores) -> None:
        raise EditError("a trace cannot hold weights that are given for a whole batch: use set weights")

    def restrict_queries(self, first: int, n: int, n_times: int) -> list[Edit]:
        return [BatchWeights(self.weights[..., first : first + n, :].repeat(1, 1, n_times, 1))]


def with_runs(edits: Edits, find: Callable[[HeadRef], Any]) -> Edits:
    """Return edits with their patterns and outputs filled in; find(HeadRef) returns the trace of that attention."""
    return tuple(_with_run(edit, find) for edit in edits)


def _with_run(edit: Edit, find: Callable[[HeadRef], Any]) -> Edit:
    if isinstance(edit, PatternFrom):
        return replace(edit, pattern=find(edit.run).weights(edit.run.head))
    return replace(edit, output=find(edit.run).context(edit.run.head)) if isinstance(edit, OutputFrom) else edit
