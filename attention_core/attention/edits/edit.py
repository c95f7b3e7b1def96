"""The base class of edits, and those kinds that leave something out or change scores.

Every way of computing attention applies the same edits. Kinds that replace a head's weights or output are in
replacement.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar, Literal, Self, TypeVar

import torch
from torch import Tensor

from attention_core.attention.scores import Scaled, Score
from attention_core.attention.trace import AttentionScores
from attention_core.attention.types import ALL, NONE, Rows
from attention_core.deprecated import renamed_attribute, warn_renamed

EDITS: dict[str, type[Edit]] = {}  # all registered classes by the names that links and files have for them
EditTarget = Literal["score function", "key order", "factor", "mask", "scores", "weights", "context"]
"""What an edit changes: the scoring function, the order of the keys, all scores of a head by a factor, the mask, single
scores, the weights after the softmax, or the context."""
EditClass = TypeVar("EditClass", bound="type[Edit]")


class EditError(ValueError):
    """An edit that cannot be done, or a position in one that is not there, with the reason."""


def register(cls: EditClass) -> EditClass:
    EDITS[cls.name] = cls
    return cls


@dataclass(frozen=True)
class HeadRef:
    """A head of another run, named by the model and the input, so that anybody can run it again.

    Attributes:
        model: its name.
        input: what it read, as text.
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
    """One change of attention, in all heads. Several are applied by apply_order, not in the order in which they come.

    Positions and heads count from 0. The methods here change nothing; a subclass overrides those that it needs. A
    subclass with a field head or query derives from the class below that knows this field.

    Attributes:
        name: of the kind, as it stands in links.
        template: a clause that says what it does, with its fields in braces; see describe().
        target: what it changes; see target_in().
        apply_order: kinds with a lower number are applied first.
        is_fusable: whether fused kernels can compute it: they know a scoring function, a factor per head and keys that
            are hidden from all queries.
        hides: whether it may hide keys from queries.
    """

    name: ClassVar[str]
    template: ClassVar[str] = ""
    target: ClassVar[EditTarget] = "scores"
    apply_order: ClassVar[int] = 0
    is_fusable: ClassVar[bool] = False
    hides: ClassVar[bool] = False

    words, factor = renamed_attribute("template"), renamed_attribute("score_multiplier")
    for_queries, to_plain = renamed_attribute("restrict_queries"), renamed_attribute("to_json_value")

    def __init_subclass__(cls) -> None:
        for old, new in (("words", "template"), ("factor", "score_multiplier"), ("for_queries", "restrict_queries")):
            if old in vars(cls):
                warn_renamed(f"{cls.__name__}.{old}", new)
                setattr(cls, new, vars(cls)[old])
        bases = {base.__name__ for base in cls.__mro__}
        for field_name, base in (("head", "HeadEdit"), ("query", "QueryEdit")):
            if field_name in cls.__annotations__ and base not in bases:
                raise TypeError(f"{cls.__name__} has the field {field_name}: derive it from {base}, which knows it")

    def applies_to(self, head: int) -> bool:
        """Return whether it changes this head."""
        return True

    def target_in(self, attention: AttentionScores) -> EditTarget:
        """Return what it changes in this attention; for some kinds that depends on whether there is a softmax."""
        return self.target

    def check(self, attention: AttentionScores) -> None:
        """Raise an EditError if it cannot be applied to this attention."""

    def edit_score(self, score: Score, d_k: int) -> Score:
        return score

    def score_multiplier(self) -> float:
        return 1.0

    def blocked(self) -> Sequence[int]:
        """Return the keys that it hides from every query."""
        return ()

    def key_order(self, attention: AttentionScores, head: int) -> Tensor | None:
        """Return, for each column of this head, the key whose score stands there, (n_keys,); None = keys stay.

        It is called for heads that the edit applies to.
        """
        return None

    def hidden(self, attention: AttentionScores, head: int, queries: Tensor, keys: Tensor) -> Tensor | None:
        """Return which cells of these queries and keys it hides, bool, broadcastable to (n_rows, n_cols)."""
        blocked = self.blocked()
        return torch.isin(keys, torch.tensor(blocked, device=keys.device))[None] if blocked else None

    def change_scores(self, attention: AttentionScores, head: int, queries: Tensor, keys: Tensor, tile: Tensor) -> None:
        """Change the scores of these queries and keys in place; what it writes into hidden cells is ignored.

        Scores outside the tile, such as a neighbour's, are attention.score_tile(..., before=self.apply_order).
        """

    def change_weights(
        self, attention: AttentionScores, head: int, queries: Tensor, keys: Tensor, tile: Tensor
    ) -> None:
        """Change the weights of these queries and keys in place, after the softmax."""

    def context(self, head: int, context: Tensor) -> Tensor:
        """Return what replaces the context of a head that it applies to, (n_queries, d_v)."""
        return context

    def rows(self, attention: AttentionScores, head: int) -> Rows:
        """Return the queries whose weights it may change in a head."""
        return ALL if self.applies_to(head) and self.target != "context" else NONE

    @classmethod
    def merge(cls, edits: Sequence[Self], n_heads: int) -> Sequence[Edit]:
        """Return edits of this kind as they are applied: those that belong together become one."""
        return edits

    def restrict_queries(self, first: int, n: int, n_times: int) -> list[Edit]:
        """Return the edits for a run of the n queries from `first` on alone, repeated n_times one after another."""
        return [self]

    def with_keys(self, index_of: Callable[[int], int | None]) -> list[Edit]:
        """Return the edits after each key has moved to index_of(key); where that is None, the key is gone."""
        return [self]

    def describe(
        self, queries: Sequence[str] = (), keys: Sequence[str] = (), attention: AttentionScores | None = None
    ) -> str:
        """Return what it does in words, with the labels of queries and keys where there are any.

        Without an attention it assumes a softmax, and without labels more keys than those that it names.
        """
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        for labels, field_name in ((queries, "query"), (keys, "key")):
            if field_name in named:
                named[field_name] = position_label(labels, named[field_name], field_name)
        if named.get("head") is not None:
            named["head"] += 1
        return self.template.format(**named) + self.head_suffix

    @property
    def head_suffix(self) -> str:
        """Where it acts, in brackets, unless that is every head or its template says it."""
        return ""

    def to_json_value(self) -> dict[str, Any]:
        changed = [field for field in fields(self) if field.compare and getattr(self, field.name) != field.default]
        return {"edit": self.name} | {field.name: _json_value(getattr(self, field.name)) for field in changed}


def position_label(labels: Sequence[str], position: int, noun: str) -> str:
    """Return the label of a position; where it has none, such as "key 3", from 1."""
    return labels[position] if position < len(labels) else f"{noun} {position + 1}"


def check_range(n: int, noun: str, *positions: int | None) -> None:
    """Raise an EditError for a position below 0 or beyond the last one."""
    for position in positions:
        if position is not None and not 0 <= position < n:
            raise EditError(f"{noun} must be from 0 to {n - 1}, got {position}")


def _json_value(value: Any) -> Any:
    if isinstance(value, HeadRef):
        return asdict(value)
    return [_json_value(item) for item in value] if isinstance(value, tuple) else value


class HeadEdit(Edit):
    """An edit with a field for the head that it changes; None = all heads."""

    head: int | None

    def applies_to(self, head: int) -> bool:
        return self.head in (None, head)

    def check(self, attention: AttentionScores) -> None:
        super().check(attention)
        check_range(attention.n_heads, "head", self.head)

    @property
    def head_suffix(self) -> str:
        return "" if self.head is None or "{head}" in self.template else f" (head {self.head + 1})"


class QueryEdit(HeadEdit):
    """An edit with a field for the query whose row it changes, too; None = all queries."""

    query: int | None

    def check(self, attention: AttentionScores) -> None:
        super().check(attention)
        check_range(attention.n_queries, "query", self.query)

    def rows(self, attention: AttentionScores, head: int) -> Rows:
        rows = super().rows(attention, head)
        return rows if self.query is None or rows is NONE else [self.query]

    def restrict_queries(self, first: int, n: int, n_times: int) -> list[Edit]:
        if self.query is None:
            return [self]
        copies = range(n_times) if first <= self.query < first + n else ()
        return [replace(self, query=self.query - first + copy * n) for copy in copies]  # type: ignore[call-arg]


@dataclass(frozen=True)
class CellEdit(QueryEdit):
    """An edit of one query and one key."""

    query: int
    key: int

    def check(self, attention: AttentionScores) -> None:
        super().check(attention)
        check_range(attention.n_keys, "key", self.key)

    def with_keys(self, index_of: Callable[[int], int | None]) -> list[Edit]:
        key = index_of(self.key)
        return [] if key is None else [replace(self, key=key)]


@register
@dataclass(frozen=True)
class BlockEdge(CellEdit):
    """One query no longer looks at one key, in one head or in all."""

    name = "block edge"
    template = "{query} no longer looks at {key}"
    target = "mask"
    hides = True

    head: int | None = None

    def hidden(self, attention: AttentionScores, head: int, queries: Tensor, keys: Tensor) -> Tensor:
        return (queries == self.query)[:, None] & (keys == self.key)


@register
@dataclass(frozen=True)
class BlockKeys(HeadEdit):
    """No query looks at these keys, in one head or in all, as if the keys were not there."""

    name = "block keys"
    target = "mask"
    is_fusable = True
    hides = True

    keys: tuple[int, ...]
    head: int | None = None

    def check(self, attention: AttentionScores) -> None:
        super().check(attention)
        check_range(attention.n_keys, "blocked keys", *self.keys)

    def blocked(self) -> Sequence[int]:
        return self.keys

    def with_keys(self, index_of: Callable[[int], int | None]) -> list[Edit]:
        return [replace(self, keys=tuple(key for key in map(index_of, self.keys) if key is not None))]

    def describe(
        self, queries: Sequence[str] = (), keys: Sequence[str] = (), attention: AttentionScores | None = None
    ) -> str:
        named = ", ".join(position_label(keys, key, "key") for key in dict.fromkeys(self.keys))
        return f"{f'it no longer looks at {named}' if named else 'it looks as before'}{self.head_suffix}"


@register
@dataclass(frozen=True)
class DropHead(QueryEdit):
    """A head hands over nothing: its context is 0.

    Attributes:
        head: from 0.
        query: to which it hands over nothing; None = to all.
    """

    name = "drop head"
    target = "context"

    head: int
    query: int | None = None

    def context(self, head: int, context: Tensor) -> Tensor:
        dropped = context.clone()
        dropped[ALL if self.query is None else self.query] = 0
        return dropped

    def describe(
        self, queries: Sequence[str] = (), keys: Sequence[str] = (), attention: AttentionScores | None = None
    ) -> str:
        to = "" if self.query is None else f" to {position_label(queries, self.query, 'query')}"
        return f"head {self.head + 1} hands over nothing{to}"


def drop_heads(heads: Iterable[tuple[Any, int]]) -> dict[Any, tuple[Edit, ...]]:
    """Return, for each attention, the edits that drop its heads among these pairs (attention, head)."""
    edits: dict[Any, tuple[Edit, ...]] = {}
    for attention, head in sorted(set(heads)):
        edits[attention] = (*edits.get(attention, ()), DropHead(head))
    return edits


@register
@dataclass(frozen=True)
class NoScale(Edit):
    """Scores are not scaled any more, in all heads."""

    name = "no scale"
    template = "its scores are not scaled"
    target = "score function"
    is_fusable = True

    def check(self, attention: AttentionScores) -> None:
        score = attention.score
        if not isinstance(score, Scaled) or score.factor(attention.key.shape[-1]) in (0, 1):
            raise EditError(f"these scores ({score.name}) have no scale that could be left out")

    def edit_score(self, score: Score, d_k: int) -> Score:
        if not isinstance(score, Scaled):
            return score
        return score.base if score.cap is None else Scaled(score.base, 1.0, cap=score.cap)


CAUSAL_REASON = (
    "the queries do not all see the same keys, as in causal attention: keys that change places would show some of them "
    "what they may not see, so that nothing can be permuted"
)


@register
@dataclass(frozen=True)
class PermuteKeys(HeadEdit):
    """The visible keys of a head change places at random, the same way for all its queries.

    Attributes:
        seed: of the random order; each head has an order of its own.
        head: from 0; None = all.
    """

    name = "permuted"
    template = "its keys change places at random, seed {seed}"
    target = "key order"

    seed: int = 0
    head: int | None = None

    def check(self, attention: AttentionScores) -> None:
        super().check(attention)
        if attention.is_causal and attention.n_queries > 1:
            raise EditError(CAUSAL_REASON)
        if attention.mask is None:
            return
        for mask in map(attention.mask_of_head, filter(self.applies_to, range(attention.n_heads))):
            rows = mask[mask.any(1)]
            if (rows != rows[:1]).any():
                raise EditError(CAUSAL_REASON)

    def key_order(self, attention: AttentionScores, head: int) -> Tensor | None:
        order = torch.arange(attention.n_keys)
        visible = order.clone()
        if attention.mask is not None:
            visible = attention.mask_of_head(head).any(0).nonzero().flatten().cpu()
        order[visible] = visible[_random_order(self.seed, head, len(visible))]
        return order.to(attention.query.device)


SEED_STEP = 1_000_003  # more than there are heads, so that each head with each seed has an order of its own


@lru_cache(maxsize=64)
def _random_order(seed: int, head: int, n: int) -> Tensor:
    return torch.randperm(n, generator=torch.Generator().manual_seed(seed * SEED_STEP + head))


@register
@dataclass(frozen=True)
class SetScore(CellEdit):
    """The score of one query and one key, after scaling, is this number, in one head or in all."""

    name = "set score"
    template = "{query} scores {key} {score:.4g}"
    apply_order = 2

    score: float
    head: int | None = None

    def change_scores(self, attention: AttentionScores, head: int, queries: Tensor, keys: Tensor, tile: Tensor) -> None:
        tile[(queries == self.query)[:, None] & (keys == self.key)] = self.score


@register
@dataclass(frozen=True)
class Temperature(HeadEdit):
    """Every score is divided by this, in one head or in all; below 1 the largest one wins more.

    An EditError refuses a temperature that is not above 0.
    """

    name = "temperature"
    template = "its scores are divided by {temperature:.4g}"
    target = "factor"
    is_fusable = True

    temperature: float
    head: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.temperature < float("inf"):
            raise EditError(f"a temperature must be above 0 and finite, got {self.temperature}")

    def score_multiplier(self) -> float:
        return 1 / self.temperature


@register
@dataclass(frozen=True)
class Uniform(HeadEdit):
    """Every score is 0, so that each query gives all keys that it may see the same weight; in one head or in all."""

    name = "uniform"
    template = "it looks at everything alike"
    target = "factor"
    is_fusable = True

    head: int | None = None

    def score_multiplier(self) -> float:
        return 0.0

    def describe(
        self, queries: Sequence[str] = (), keys: Sequence[str] = (), attention: AttentionScores | None = None
    ) -> str:
        has_softmax = attention is None or attention.has_softmax
        return f"{self.template if has_softmax else 'all its scores are 0, and so are its weights'}{self.head_suffix}"


Edits = Sequence[Edit]
UNIFORM: Edits = (Uniform(),)
"""All weights of a query are equal: attention may not choose."""


def restrict_queries(edits: Edits, first: int, n: int, n_times: int = 1, *, is_causal: bool = False) -> Edits:
    """Return edits for a run with these queries only, see Edit.restrict_queries; without later keys if it is causal.

    An EditError where keys are permuted in a causal attention.
    """
    if is_causal and any(isinstance(edit, PermuteKeys) for edit in edits):
        raise EditError(CAUSAL_REASON)
    if is_causal:  # the run has no keys of later queries
        edits = [moved for edit in edits for moved in edit.with_keys(lambda key: key if key < first + n else None)]
    return tuple(chain.from_iterable(edit.restrict_queries(first, n, n_times) for edit in edits))


def refuse_edits(edits: Edits) -> None:
    """Raise an EditError if there are edits: for networks without attention."""
    if edits:
        raise EditError("this network has no attention that could be changed")
