"""The weights of a head of another run."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from attention_core.attention.edits.edit import Edit, EditError, Place, RunHead, register
from attention_core.attention.edits.set_weights import BEYOND
from attention_core.attention.pairs import Pairs


@register
@dataclass(frozen=True)
class PatternFrom(Edit):
    """A head looks where a head of another run looked; its values stay its own.

    Attributes:
        head: whose weights are replaced, from 0.
        run: whose they are.
        pattern: (n_queries, n_keys), which with_runs() finds.
    """

    name = "pattern from"
    order = 1
    hides = True

    head: int
    run: RunHead
    pattern: Tensor | None = field(default=None, compare=False, repr=False)

    def check(self, pairs: Pairs) -> None:
        """Refuse a pattern of another shape, or one that looks where a query may not look."""
        super().check(pairs)
        pattern, wanted = self._found(pairs), (pairs.n_queries, pairs.n_keys)
        if pattern.shape != wanted:
            raise EditError(f"{self.run} has weights for {tuple(pattern.shape)} queries and keys, here are {wanted}")
        allowed = pairs.own_allowed(self.head)
        if allowed is not None and bool((pattern > 0)[~allowed].any()):
            raise EditError(f"{self.run} looks where a query may not look here")

    def _found(self, pairs: Pairs) -> Tensor:
        if self.pattern is None:
            raise EditError(f"the weights of {self.run} are not here yet: with_runs() finds them")
        pattern = self.pattern.to(pairs.query.device)
        spare = pattern[:, pairs.n_keys :]  # keys that are still to come where a decoder goes word by word
        return pattern[:, : pairs.n_keys] if spare.numel() and not spare.any() else pattern

    def place_in(self, pairs: Pairs) -> Place:
        """Return the scores or, where there is no softmax, the weights."""
        return "scores" if pairs.has_softmax else "weights"

    def hidden(self, pairs: Pairs, head: int, queries: Tensor, keys: Tensor) -> Tensor | None:
        """Return the weights of 0."""
        return self._found(pairs)[queries][:, keys] == 0 if pairs.has_softmax else None

    def change_scores(self, pairs: Pairs, head: int, queries: Tensor, keys: Tensor, tile: Tensor) -> None:
        if not pairs.has_softmax:
            return
        pattern = self._found(pairs)[queries].to(tile)
        base = tile.new_zeros(len(queries), 1)
        if pairs.sinks is not None:
            sinks = pairs.with_sinks(torch.full_like(base[:, 0], -torch.inf), head, queries)[:, None]
            left = 1 - pattern.sum(1, keepdim=True)
            base = sinks + torch.where(left > 1e-6, -left.clamp(min=1e-6).log(), BEYOND)
        tile.copy_(pattern[:, keys].log() + base)
        tile.masked_fill_(pattern[:, keys] == 0, 0)

    def change_weights(self, pairs: Pairs, head: int, queries: Tensor, keys: Tensor, tile: Tensor) -> None:
        if not pairs.has_softmax:
            tile.copy_(self._found(pairs)[queries][:, keys])

    def for_queries(self, first: int, n: int, n_times: int) -> list[Edit]:
        rows = None if self.pattern is None else self.pattern[first : first + n].repeat(n_times, 1)
        return [PatternFrom(self.head, self.run, rows)]

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return f"head {self.head + 1} looks as {self.run}"
