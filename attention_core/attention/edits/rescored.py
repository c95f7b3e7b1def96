"""Edits that change scores: their order, one of them, all by a factor."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from attention_core.attention.edits.edit import Edit, EditError, label, register
from attention_core.attention.pairs import Pairs

CAUSAL = (
    "the queries do not all see the same keys, as in causal attention: keys that change places would show some of them "
    "what they may not see, so that nothing can be permuted"
)


@register
@dataclass(frozen=True)
class Permuted(Edit):
    """The keys of a head change places among those that may be seen, the same way for all its queries.

    Attributes:
        seed: of the order, which differs from head to head.
        head: from 0; None = all.
    """

    name = "permuted"
    place = "order"

    seed: int = 0
    head: int | None = None

    def check(self, pairs: Pairs) -> None:
        super().check(pairs)
        if pairs.is_causal and pairs.n_queries > 1:
            raise EditError(CAUSAL)
        for head in filter(self.concerns, range(pairs.n_heads if pairs.mask is not None else 0)):
            allowed = pairs.own_mask(head)
            seeing = allowed[allowed.any(1)]
            if len(seeing) and not (seeing == seeing[:1]).all():
                raise EditError(CAUSAL)

    def key_order(self, pairs: Pairs, head: int) -> Tensor | None:
        if not self.concerns(head):
            return None
        order = torch.arange(pairs.n_keys)
        seen = order.clone() if pairs.mask is None else pairs.own_mask(head).any(0).nonzero().flatten().cpu()
        order[seen] = seen[_shuffled(self.seed, head, len(seen))]
        return order.to(pairs.query.device)

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return f"its keys change places at random, seed {self.seed}{self.of_head}"


@lru_cache(maxsize=64)
def _shuffled(seed: int, head: int, n: int) -> Tensor:
    return torch.randperm(n, generator=torch.Generator().manual_seed(seed * 1_000_003 + head))


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


@register
@dataclass(frozen=True)
class Temperature(Edit):
    """Every score is divided by this, in one head or in all; below 1 the largest one wins more.

    Raises:
        EditError: a temperature that is not above 0.
    """

    name = "temperature"
    place = "factor"
    is_even = True

    temperature: float
    head: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.temperature < float("inf"):
            raise EditError(f"a temperature must be above 0 and finite, got {self.temperature}")

    def factor(self) -> float:
        return 1 / self.temperature

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return f"its scores are divided by {self.temperature:.4g}{self.of_head}"


@register
@dataclass(frozen=True)
class Uniform(Edit):
    """Every query attends to all keys that it may see alike, in one head or in all: every score is 0."""

    name = "uniform"
    place = "factor"
    is_even = True

    head: int | None = None

    def factor(self) -> float:
        return 0.0

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return f"it looks at everything alike{self.of_head}"
