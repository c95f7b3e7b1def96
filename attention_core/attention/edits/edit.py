"""What a change of attention is, one small value that every way of computing attention applies alike; the simple kinds.

They leave something out, or change scores. Those that put numbers in the place of a head's own are in replaced.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self, TypeVar

import torch
from torch import Tensor

from attention_core.attention.scores import Scaled, Score
from attention_core.attention.trace import Pairs
from attention_core.attention.types import ALL, Rows

EDITS: dict[str, type[Edit]] = {}  # all kinds of edits by name
NO_ROWS: Rows = ()
Place = Literal["scoring", "order", "factor", "mask", "scores", "weights", "context"]
"""The scoring function, which key is compared, all scores of a head, the mask, single scores, weights, context."""
Kind = TypeVar("Kind", bound="type[Edit]")


class EditError(ValueError, IndexError):
    """An edit that cannot be done, or a position in one that is not there, with the reason."""


def register(kind: Kind) -> Kind:
    EDITS[kind.name] = kind
    return kind


@dataclass(frozen=True)
class RunHead:
    """A head of another run, by what anybody can run again.

    Attributes:
        model: its name.
        input: what it was given, in words.
        attention: which of its traces, from 0.
        head: which head of that, from 0.
    """

    model: str
    input: str
    attention: int = 0
    head: int = 0

    def __str__(self) -> str:
        return f"head {self.head + 1} of attention {self.attention + 1} of {self.model} on “{self.input}”"


@dataclass(frozen=True)
class Edit:
    """One change of attention; edits of one attention are applied in one order, whatever order they come in.

    Positions and heads count from 0. Every method here does nothing; a subclass overrides those for what it changes.

    Attributes:
        name: of the kind, in links.
        place: where it acts; see place_in().
        order: kinds with a lower one are applied first.
        is_fusable: whether the score function, one factor per head and blocked keys describe it completely, so that
            fused kernels can compute it.
        hides: whether it may hide cells.
    """

    name: ClassVar[str]
    place: ClassVar[Place] = "scores"
    order: ClassVar[int] = 0
    is_fusable: ClassVar[bool] = False
    hides: ClassVar[bool] = False

    def applies_to(self, head: int) -> bool:
        """Return whether it changes anything in a head; a kind without a head, or with None, changes all."""
        return getattr(self, "head", None) in (None, head)

    def place_in(self, pairs: Pairs) -> Place:
        """Return where it acts, which may hang on whether there is a softmax."""
        return self.place

    @property
    def changes_single_scores(self) -> bool:
        return self.place == "scores"

    def check(self, pairs: Pairs) -> None:
        """Refuse an attention in which this cannot be done, with an EditError."""
        check_range(pairs.n_heads, "head", getattr(self, "head", None))
        check_range(pairs.n_queries, "query", getattr(self, "query", None))
        check_range(pairs.n_keys, "key", getattr(self, "key", None))

    def scoring(self, score: Score, d_k: int) -> Score:
        return score

    def factor(self) -> float:
        return 1.0

    def blocked(self) -> Sequence[int]:
        """Return the keys that it hides from every query."""
        return ()

    def key_order(self, pairs: Pairs, head: int) -> Tensor | None:
        """Return for each column the index of the key whose score goes there, (n_keys,); None = unpermuted."""
        return None

    def hidden(self, pairs: Pairs, head: int, queries: Tensor, keys: Tensor) -> Tensor | None:
        """Return which cells of a tile it hides, bool, broadcastable to (n_rows, n_cols), from positions of both."""
        blocked = self.blocked()
        return torch.isin(keys, torch.tensor(blocked, device=keys.device))[None] if blocked else None

    def change_scores(self, pairs: Pairs, head: int, queries: Tensor, keys: Tensor, tile: Tensor) -> None:
        """Change a tile of scores in place, from positions of its rows and columns; hidden cells do not matter."""

    def change_weights(self, pairs: Pairs, head: int, queries: Tensor, keys: Tensor, tile: Tensor) -> None:
        """Change a tile of weights in place."""

    def context(self, head: int, context: Tensor) -> Tensor:
        """Return a head's context (n_queries, d_v) in place of one."""
        return context

    def rows(self, pairs: Pairs, head: int) -> Rows:
        query = getattr(self, "query", None)
        if not self.applies_to(head) or self.place == "context":
            return NO_ROWS
        return ALL if query is None else [query]

    @classmethod
    def merge(cls, edits: Sequence[Self], n_heads: int) -> Sequence[Edit]:
        return edits

    def for_item(self, item: int) -> Edit | None:
        """Return what it is for one item of a batch; None = nothing."""
        return self

    def for_queries(self, first: int, n: int, n_times: int) -> list[Edit]:
        """Return the edit for n queries from `first` on, counted from 0, once for each of n_times copies of a batch."""
        query = getattr(self, "query", None)
        if query is None:
            return [self]
        times = range(n_times) if first <= query < first + n else ()
        return [replace(self, query=query - first + time * n) for time in times]  # type: ignore[call-arg]

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        raise NotImplementedError

    @property
    def of_head(self) -> str:
        head = getattr(self, "head", None)
        return "" if head is None else f" (head {head + 1})"

    def to_plain(self) -> dict[str, Any]:
        given = ((field.name, getattr(self, field.name), field.default) for field in fields(self) if field.compare)
        return {"edit": self.name} | {name: _plain(value) for name, value, usual in given if value != usual}


def label(labels: Sequence[str], place: int, what: str) -> str:
    """Return what a position is called; numbered from 1 where nobody says."""
    return labels[place] if place < len(labels) else f"{what} {place + 1}"


def check_range(n: int, what: str, *places: int | None) -> None:
    """Refuse positions that are not there, with an EditError."""
    for place in places:
        if place is not None and not 0 <= place < n:
            raise EditError(f"{what} must be from 0 to {n - 1}, got {place}")


def _plain(value: Any) -> Any:
    if isinstance(value, RunHead):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


LayerKey = TypeVar("LayerKey")


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
    is_fusable = True
    hides = True

    keys: tuple[int, ...]
    head: int | None = None

    def check(self, pairs: Pairs) -> None:
        super().check(pairs)
        check_range(pairs.n_keys, "blocked keys", *self.keys)

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
        return torch.zeros_like(context) if self.item is None and self.applies_to(head) else context

    def for_item(self, item: int) -> Edit | None:
        return replace(self, item=None) if self.item in (None, item) else None

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return f"head {self.head + 1} hands over nothing"


def dropped(heads: Iterable[tuple[LayerKey, int]]) -> dict[LayerKey, tuple[Edit, ...]]:
    """Return the edits that switch heads off, by attention, of (attention, head) pairs."""
    edits: dict[LayerKey, tuple[Edit, ...]] = {}
    for place, head in sorted(set(heads)):  # type: ignore[type-var]
        edits[place] = (*edits.get(place, ()), DropHead(head))
    return edits


@register
@dataclass(frozen=True)
class NoScale(Edit):
    """Scores are not scaled any more, in all heads."""

    name = "no scale"
    place = "scoring"
    is_fusable = True

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
        for head in filter(self.applies_to, range(pairs.n_heads if pairs.mask is not None else 0)):
            allowed = pairs.given_mask(head)
            seeing = allowed[allowed.any(1)]
            if len(seeing) and not (seeing == seeing[:1]).all():
                raise EditError(CAUSAL)

    def key_order(self, pairs: Pairs, head: int) -> Tensor | None:
        if not self.applies_to(head):
            return None
        order = torch.arange(pairs.n_keys)
        seen = order.clone() if pairs.mask is None else pairs.given_mask(head).any(0).nonzero().flatten().cpu()
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
    is_fusable = True

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
    is_fusable = True

    head: int | None = None

    def factor(self) -> float:
        return 0.0

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return f"it looks at everything alike{self.of_head}"


Edits = Sequence[Edit]
UNIFORM: Edits = (Uniform(),)
"""Every query attends to all keys alike: what is left when attention may not choose."""


def blocked_keys(edits: Edits) -> set[int]:
    """Return the keys that edits hide from every query of some head."""
    return {key for edit in edits for key in edit.blocked()}


def for_queries(edits: Edits, first: int, n: int, n_times: int = 1, *, is_causal: bool = False) -> Edits:
    """Return edits for those n queries alone that come from the first on, n_times over.

    An EditError refuses what a causal attention cannot have.
    """
    if is_causal and any(isinstance(edit, Permuted) for edit in edits):
        raise EditError(CAUSAL)
    return tuple(part for edit in edits for part in edit.for_queries(first, n, n_times))


def described(edits: Edits, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> list[str]:
    return [edit.describe(queries, keys) for edit in edits]


def nothing_to_edit(edits: Edits) -> None:
    """Refuse edits of a network without attention, with an EditError."""
    if edits:
        raise EditError("this network has no attention that could be changed")
