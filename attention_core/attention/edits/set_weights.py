"""Weights of one's own, one or a whole row."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from attention_core.attention.edits.edit import Edit, EditError, Place, inside, label, register
from attention_core.attention.pairs import Pairs

ROUND_OFF = 1e-6
FULL = 1 - 1e-9
"""Weights of a row that sum to this leave nothing to the others."""
BEYOND = 40.0
"""A score so much above a sink leaves it e^-40, less than float64 shows beside 1."""


@register
@dataclass(frozen=True)
class SetWeights(Edit):
    """One query gives keys these weights, in one head or in all; the others share what is left, in proportion.

    A weight p is the score log(p / (1 - p)) + logsumexp(the others), computed when the row is; all weights that are
    set in a row count together. 0 hides a key, and what sums to 1 hides all others. Where the weights are no softmax,
    and where they are not renormalised, the weights are those numbers and the others stay as they are.

    Attributes:
        query: the row.
        weights: (key, weight) pairs.
        head: from 0; None = all.
        renormalised: whether the row keeps its sum.
    """

    name = "set weights"
    order = 3

    query: int
    weights: tuple[tuple[int, float], ...]
    head: int | None = None
    renormalised: bool = True

    @classmethod
    def together(cls, edits: Sequence[Self], n_heads: int) -> Sequence[Edit]:
        """Return one edit for each row of each head; of two weights of a cell the later one counts."""
        rows: dict[tuple[int, int, bool], dict[int, float]] = {}
        for edit in edits:
            for head in filter(edit.concerns, range(n_heads)):
                rows.setdefault((edit.query, head, edit.renormalised), {}).update(edit.weights)
        return [cls(query, tuple(cells.items()), head, kept) for (query, head, kept), cells in rows.items()]

    def check(self, pairs: Pairs) -> None:
        super().check(pairs)
        inside(pairs.n_keys, "key", *(key for key, _ in self.weights))
        if not all(math.isfinite(weight) for _, weight in self.weights):
            raise EditError("a weight must be a finite number")
        if pairs.has_softmax and min((weight for _, weight in self.weights), default=0) < 0:
            raise EditError("a weight of a softmax cannot be negative")
        if self._is_share(pairs) and self._total > 1 + ROUND_OFF:
            raise EditError(f"the weights of a row sum to 1 at most, got {self._total:.6g} for query {self.query}")
        for head in filter(self.concerns, range(pairs.n_heads)):
            self._check_row(pairs, head)

    def _check_row(self, pairs: Pairs, head: int) -> None:
        allowed = pairs.allowed(head, [self.query], before=self.order)
        given = [key for key, weight in self.weights if weight != 0]
        if allowed is not None and not allowed[0, given].all():
            raise EditError(f"query {self.query} may not look at all of these keys, so that they cannot have a weight")
        keys = [key for key, _ in self.weights]
        left = torch.ones(pairs.n_keys, dtype=torch.bool) if allowed is None else allowed[0].cpu().clone()
        left[keys] = False
        if self._is_share(pairs) and self._total < 1 - ROUND_OFF and not left.any() and pairs.sinks is None and given:
            raise EditError(f"nothing is left in the row of query {self.query} that could take the other weight")

    @property
    def hides(self) -> bool:  # type: ignore[override]
        """Whether any weight is 0 or all others are."""
        return self.renormalised and (self._total >= FULL or any(weight == 0 for _, weight in self.weights))

    @property
    def _total(self) -> float:
        return sum(weight for _, weight in self.weights)

    def _is_share(self, pairs: Pairs) -> bool:
        return self.renormalised and pairs.has_softmax

    def place_in(self, pairs: Pairs) -> Place:
        """Return the scores or, where nothing is renormalised, the weights."""
        return "scores" if self._is_share(pairs) else "weights"

    def hidden(self, pairs: Pairs, head: int, queries: Tensor, keys: Tensor) -> Tensor | None:
        """Return the weights of 0 and, where the others fill the row, everything else."""
        if not self._is_share(pairs):
            return None
        given = torch.tensor([key for key, weight in self.weights if weight > 0], dtype=keys.dtype, device=keys.device)
        empty = torch.tensor([key for key, weight in self.weights if weight == 0], dtype=keys.dtype, device=keys.device)
        gone = ~torch.isin(keys, given) if self._total >= FULL else torch.isin(keys, empty)
        return (queries == self.query)[:, None] & gone

    def change_scores(self, pairs: Pairs, head: int, queries: Tensor, keys: Tensor, tile: Tensor) -> None:
        """Write the scores that give the weights, from all others of the row."""
        rows = (queries == self.query).nonzero()
        given = [(key, weight) for key, weight in self.weights if weight > 0]
        if not self._is_share(pairs) or not len(rows) or not given:
            return
        allowed = pairs.allowed(head, [self.query])
        row = pairs.score_tile(head, [self.query], dtype=tile.dtype, before=self.order)[0].clone()
        if allowed is not None:
            row[~allowed[0]] = -math.inf
        row[[key for key, _ in given]] = -math.inf
        others = float(pairs.with_sinks(row.logsumexp(0)[None], head, [self.query])[0])
        total = self._total
        if total >= FULL or others == -math.inf:
            base = 0.0 if others == -math.inf else others + BEYOND
        else:
            base = others - math.log1p(-total)
        for key, weight in given:
            tile[rows, (keys == key).nonzero().T] = base + math.log(weight)

    def change_weights(self, pairs: Pairs, head: int, queries: Tensor, keys: Tensor, tile: Tensor) -> None:
        """Write the weights where nothing is renormalised."""
        rows = (queries == self.query).nonzero()
        if self._is_share(pairs) or not len(rows):
            return
        for key, weight in self.weights:
            tile[rows, (keys == key).nonzero().T] = weight

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        given = ", ".join(f"{label(keys, key, 'key')} a weight of {weight:.4g}" for key, weight in self.weights)
        kept = "" if self.renormalised else ", and the other weights stay"
        return f"{label(queries, self.query, 'query')} gives {given}{kept}{self.of_head}"
