"""Edits that leave something out: one pair, keys, a head, the scale."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import torch
from torch import Tensor

from attention_core.attention.edits.edit import Edit, EditError, inside, label, register
from attention_core.attention.pairs import Pairs
from attention_core.attention.score import Scaled, Score

Place = TypeVar("Place")


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


@register
@dataclass(frozen=True)
class BlockKeys(Edit):
    """No query looks at these keys, in one head or, without one, in all: they count as if they were not there."""

    name = "block keys"
    place = "mask"
    is_even = True
    hides = True

    keys: tuple[int, ...]
    head: int | None = None

    def check(self, pairs: Pairs) -> None:
        super().check(pairs)
        inside(pairs.n_keys, "blocked keys", *self.keys)

    def blocked(self) -> Sequence[int]:
        return self.keys

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return f"it no longer looks at {', '.join(label(keys, key, 'key') for key in self.keys)}{self.of_head}"


@register
@dataclass(frozen=True)
class DropHead(Edit):
    """A head hands over nothing: its context is 0.

    Attributes:
        head: from 0.
        item: of the batch, in which alone it is dropped, and which no trace of a model shows; None = all.
    """

    name = "drop head"
    place = "context"

    head: int
    item: int | None = None

    def context(self, head: int, context: Tensor) -> Tensor:
        return torch.zeros_like(context) if self.item is None and self.concerns(head) else context

    def for_item(self, item: int) -> Edit | None:
        return replace(self, item=None) if self.item in (None, item) else None

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return f"head {self.head + 1} hands over nothing"


def dropped(heads: Iterable[tuple[Place, int]]) -> dict[Place, tuple[Edit, ...]]:
    """Return the edits that switch heads off, by attention, of (attention, head) pairs."""
    edits: dict[Place, tuple[Edit, ...]] = {}
    for place, head in sorted(set(heads)):  # type: ignore[type-var]
        edits[place] = (*edits.get(place, ()), DropHead(head))
    return edits


@register
@dataclass(frozen=True)
class NoScale(Edit):
    """Scores are not scaled any more, in all heads."""

    name = "no scale"
    place = "scoring"
    is_even = True

    def check(self, pairs: Pairs) -> None:
        score = pairs.score
        if not isinstance(score, Scaled) or score.factor(pairs.key.shape[-1]) in (0, 1):
            raise EditError(f"these scores ({score.name}) have no scale that could be left out")

    def scoring(self, score: Score, d_k: int) -> Score:
        if not isinstance(score, Scaled):
            return score
        return score.base if score.cap is None else Scaled(score.base, 1.0, cap=score.cap)

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return "its scores are not scaled"
