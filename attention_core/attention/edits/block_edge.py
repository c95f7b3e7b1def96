"""A key that one query may not look at."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from attention_core.attention.edits.edit import Edit, label, register
from attention_core.attention.pairs import Pairs


@register
@dataclass(frozen=True)
class BlockEdge(Edit):
    """One query no longer looks at one key, in one head or in all."""

    name = "block edge"
    place = "mask"
    hides = True

    query: int
    key: int
    head: int | None = None

    def hidden(self, pairs: Pairs, head: int, queries: Tensor, keys: Tensor) -> Tensor:
        return (queries == self.query)[:, None] & (keys == self.key)

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        asks, asked = label(queries, self.query, "query"), label(keys, self.key, "key")
        return f"{asks} no longer looks at {asked}{self.of_head}"
