"""A score of one's own."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from attention_core.attention.edits.edit import Edit, label, register
from attention_core.attention.pairs import Pairs


@register
@dataclass(frozen=True)
class SetScore(Edit):
    """One query scores one key so much, in one head or in all; scaled, as it meets the softmax."""

    name = "set score"
    order = 2

    query: int
    key: int
    score: float
    head: int | None = None

    def change_scores(self, pairs: Pairs, head: int, queries: Tensor, keys: Tensor, tile: Tensor) -> None:
        tile[(queries == self.query).nonzero(), (keys == self.key).nonzero().T] = self.score

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        asks, asked = label(queries, self.query, "query"), label(keys, self.key, "key")
        return f"{asks} scores {asked} {self.score:.4g}{self.of_head}"
