"""What a change of attention is: one small value, which every way of computing attention applies alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self, TypeVar, get_type_hints

import torch
from torch import Tensor

from attention_core.attention.pairs import Pairs
from attention_core.attention.score import Score
from attention_core.attention.types import ALL, Rows
from attention_core.bounds import EDIT_CELLS, EDIT_POSITION, MODEL_NAME_LETTERS, MODEL_TEXT_LETTERS

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

    Positions and heads count from 0. What a kind does not change it leaves to the methods here, which change nothing.

    Attributes:
        name: of the kind, in links.
        place: where it acts; see place_in().
        order: kinds with a lower one change scores before.
        is_even: whether scoring(), factor() and blocked() tell all that it does, so that fused kernels can compute it.
        hides: whether it may hide cells.
    """

    name: ClassVar[str]
    place: ClassVar[Place] = "scores"
    order: ClassVar[int] = 0
    is_even: ClassVar[bool] = False
    hides: ClassVar[bool] = False

    def concerns(self, head: int) -> bool:
        """Return whether it changes anything in a head; a kind without a head, or with None, changes all."""
        return getattr(self, "head", None) in (None, head)

    def place_in(self, pairs: Pairs) -> Place:
        """Return where it acts, which may hang on whether there is a softmax."""
        return self.place

    @property
    def sets_cells(self) -> bool:
        return self.place == "scores"

    def check(self, pairs: Pairs) -> None:
        """Refuse an attention in which this cannot be done, with an EditError."""
        inside(pairs.n_heads, "head", getattr(self, "head", None))
        inside(pairs.n_queries, "query", getattr(self, "query", None))
        inside(pairs.n_keys, "key", getattr(self, "key", None))

    def scoring(self, score: Score, d_k: int) -> Score:
        return score

    def factor(self) -> float:
        return 1.0

    def blocked(self) -> Sequence[int]:
        """Return the keys that it hides from every query."""
        return ()

    def key_order(self, pairs: Pairs, head: int) -> Tensor | None:
        """Return the key (n_keys,) whose score stands at each place; None = its own."""
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
        if not self.concerns(head) or self.place == "context":
            return NO_ROWS
        return ALL if query is None else [query]

    @classmethod
    def together(cls, edits: Sequence[Self], n_heads: int) -> Sequence[Edit]:
        return edits

    def for_item(self, item: int) -> Edit | None:
        """Return what it is for one item of a batch; None = nothing."""
        return self

    def for_queries(self, first: int, n: int, n_times: int) -> list[Edit]:
        """Return it for those n queries alone that come from the first on, n_times over."""
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


def inside(n: int, what: str, *places: int | None) -> None:
    """Refuse positions that are not there, with an EditError."""
    for place in places:
        if place is not None and not 0 <= place < n:
            raise EditError(f"{what} must be from 0 to {n - 1}, got {place}")


def edit_from_plain(plain: Any) -> Edit:
    """Return what to_plain() made; an EditError says why it is anything else."""
    kind = EDITS.get(str(plain.get("edit"))) if isinstance(plain, dict) else None
    if kind is None:
        raise EditError(f"an edit must be one of {', '.join(EDITS)}")
    return _read(kind, {name: value for name, value in plain.items() if name != "edit"})


def _plain(value: Any) -> Any:
    if isinstance(value, RunHead):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _read(kind: Any, plain: dict[str, Any]) -> Any:
    types = get_type_hints(kind)
    known = {field.name: types[field.name] for field in fields(kind) if field.compare}
    what = getattr(kind, "name", "a head of another run")
    if plain.keys() - known.keys():
        raise EditError(f"{what} has {', '.join(known)}, got {', '.join(map(str, plain))}")
    try:
        return kind(**{name: READ[known[name]](value) for name, value in plain.items()})
    except (TypeError, OverflowError) as error:
        raise EditError(f"{what} cannot be read: {error}") from None


def _position(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= EDIT_POSITION.most:
        raise EditError(f"a position must be a whole number from 0 to {EDIT_POSITION}")
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not -1e30 < value < 1e30:
        raise EditError("a number must be finite")
    return float(value)


def _several(read: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def several(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or len(value) > EDIT_CELLS.most:
            raise EditError(f"an edit has at most {EDIT_CELLS} positions")
        return tuple(map(read, value))

    return several


def _pair(value: Any) -> tuple[int, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise EditError("a weight must be given as its key and a number")
    return _position(value[0]), _number(value[1])


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise EditError("yes or no must be true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MODEL_TEXT_LETTERS.most:
        raise EditError(f"a text has at most {MODEL_TEXT_LETTERS} letters")
    return value


def _run_head(value: Any) -> RunHead:
    if not isinstance(value, dict) or len(str(value.get("model"))) > MODEL_NAME_LETTERS.most:
        raise EditError("a head of another run must be named by its model and input")
    return _read(RunHead, value)


READ: dict[Any, Callable[[Any], Any]] = {
    int: _position,
    int | None: lambda value: None if value is None else _position(value),
    float: _number,
    bool: _truth,
    str: _text,
    tuple[int, ...]: _several(_position),
    tuple[tuple[int, float], ...]: _several(_pair),
    RunHead: _run_head,
}
"""How the values of a field are read, by its type."""
