"""What a scoring function is: everything that the rest has to know about one, and the wrapper that scales it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

import torch
from torch import Tensor

from attention_core.attention.latex import number
from attention_core.attention.types import Role, Rows, Text


class Stage(NamedTuple):
    """A matrix on the way to the scores, for people to stop at."""

    text: Text  # of its step; the first stage is called "scores"
    compute: Score  # the score up to here, (query, key) -> (..., n_queries, n_keys)

    @property
    def name(self) -> str:
        return self.text.name


class Pair(NamedTuple):
    """One query and one key."""

    query: Tensor  # (d_q,)
    key: Tensor  # (d_k,)
    cell: tuple[int, int] = (0, 0)  # position of the query and of the key
    asks: str = "q"  # what people call the query
    asked: str = "k"  # what they call the key


class Line(NamedTuple):
    """A row of numbers in a calculation."""

    label: str  # what it is, such as "query x1"
    role: str  # the Role that decides its colour, or empty
    values: Any  # tensor or array (n,)


class ScoreDerivation(NamedTuple):
    """How the score of one pair came about."""

    words: str  # what meets what
    value: float  # the score
    way: str = ""  # LaTeX that leads to it, without the score itself; empty where that is too long to be written
    lines: tuple[Line, ...] = ()  # rows of numbers above each other; the last one is summed
    is_sum: bool = False  # whether that sum is the score; else the way says what is done with it
    unit: str = ""  # stands before the number of each column


@dataclass(frozen=True, eq=False)
class Score(ABC):
    """A scoring function: maps query (..., n_queries, d_q) and key (..., n_keys, d_k) to (..., n_queries, n_keys).

    The fields of a subclass are its parameters, all of them tensors.
    """

    name: ClassVar[str]  # what people call it
    short: ClassVar[str] = ""  # its formula in one line of HTML
    picture: ClassVar[str] = ""  # the shape of its field over all places where a key can lie
    common_width: ClassVar[str] = ""  # what vectors of different widths lack, such as "dot product"; empty = nothing
    symbol: ClassVar[str] = ""  # see Text, as formula, code and explanation are
    formula: ClassVar[str] = ""
    code: ClassVar[str] = ""
    explanation: ClassVar[str] = ""

    @abstractmethod
    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the score of every pair, in a tensor of its own, which the caller may change."""

    @abstractmethod
    def numbers(self, pair: Pair) -> ScoreDerivation:
        """Return the arithmetic of one pair."""

    @classmethod
    def plain_parameters(cls, d_q: int, d_k: int, n_keys: int, hidden: int | None = None) -> dict[str, Tensor]:
        """Return parameters in which nothing is hidden, identities and ones, in the order of the fields.

        They fit these widths of queries and keys and as many positions as there are keys; without a number of hidden
        units there are as many as the wider vector has numbers.
        """
        return {}

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        """Return the names of the parameters among those of other scoring functions, such as "general.W"."""
        return tuple(f"{cls.name}.{field.name}" for field in fields(cls))

    def parameters(self) -> dict[str, Tensor]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def to(self, dtype: torch.dtype) -> Self:
        return type(self)(*(parameter.to(dtype) for parameter in self.parameters().values()))

    def tile(self, query: Tensor, key: Tensor, cols: Rows) -> Tensor:
        """Return the scores of queries (n_rows, d_q) with those keys of (n_keys, d_k) that cols chooses."""
        return self(query, key[cols].to(query.dtype))

    def stages(self, d_k: int) -> tuple[Stage, ...]:
        """Return the stages in order; the last one equals the call."""
        texts = self.symbol, self.formula, self.code, self.explanation
        return (Stage(Text("scores", "Scores", *texts, Role.SCORES), self),)

    def dot_factor(self, d_k: int) -> float | None:
        """Return by what dot products are multiplied to give the scores, as a fused kernel does; None = no way."""
        return None

    def reach(self, d_k: int) -> float | None:
        """Return a number that no score is larger than, in size, per length of query and key; None = unknown."""
        return None

    def to_plain(self) -> dict[str, Any]:
        """Return name and parameters as plain values, for scores.score_from_plain()."""
        return {"score": self.name, **{name: parameter.tolist() for name, parameter in self.parameters().items()}}


@dataclass(frozen=True, eq=False)
class Scaled(Score):
    """A scoring function times a factor, divided by a temperature and bent towards a cap.

    Source of the cap: Gemma Team 2024, "Gemma 2", section 2, logit soft-capping.
    """

    base: Score  # gives the raw scores
    scale: float | None = None  # the factor; None = 1 / sqrt(d_k); 0 makes every weight the same
    temperature: float | None = None  # above 1 evens weights out, near 0 the largest score takes all; None = 1, untold
    cap: float | None = None  # no score is larger than this, none smaller than its negative; None = no limit

    def __post_init__(self) -> None:
        if self.temperature is not None and not self.temperature > 0:
            raise ValueError(f"temperature must be above 0, got {self.temperature}")
        if self.cap is not None and not self.cap > 0:
            raise ValueError(f"cap must be positive, got {self.cap}")

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{'' if self.cap is None else 'capped '}scaled {self.base.name}"

    def parameters(self) -> dict[str, Tensor]:
        return self.base.parameters()

    def factor(self, d_k: int) -> float:
        return (1 / math.sqrt(d_k) if self.scale is None else self.scale) / (self.temperature or 1)

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        return self._bent(self.base(query, key), key.shape[-1])

    def tile(self, query: Tensor, key: Tensor, cols: Rows) -> Tensor:
        return self._bent(self.base.tile(query, key, cols), key.shape[-1])

    def _bent(self, raw: Tensor, d_k: int) -> Tensor:
        scaled = raw.mul_(self.factor(d_k))  # in place: half the memory
        return scaled if self.cap is None else (scaled / self.cap).tanh() * self.cap

    def dot_factor(self, d_k: int) -> float | None:
        inner = self.base.dot_factor(d_k)
        return None if inner is None or self.cap is not None else inner * self.factor(d_k)

    def reach(self, d_k: int) -> float | None:
        inner = self.base.reach(d_k)
        return None if inner is None else inner * abs(self.factor(d_k))

    def to(self, dtype: torch.dtype) -> Scaled:  # type: ignore[override]
        return Scaled(self.base.to(dtype), self.scale, self.temperature, self.cap)

    def to_plain(self) -> dict[str, Any]:
        heat = {} if self.temperature is None else {"temperature": self.temperature}
        return {**self.base.to_plain(), "scale": self.scale, "softcap": self.cap, **heat}

    def numbers(self, pair: Pair) -> ScoreDerivation:
        words = f"The score of {pair.asks} with {pair.asked}, scaled"
        if self.cap is not None:
            inner = Scaled(self.base, self.scale, self.temperature).numbers(pair).value
            way = rf"{self.cap:.3g}\, \tanh\!\left(\frac{{{number(inner)}}}{{{self.cap:.3g}}}\right)"
            return ScoreDerivation(f"{words} and capped", math.tanh(inner / self.cap) * self.cap, way)
        raw, d_k = self.base.numbers(pair).value, len(pair.key)
        free, cooled = self.scale is not None and not self._is_only_cooled, self.temperature is not None
        above = [number(raw)] + [number(self.scale or 0)] * free
        below = [rf"\sqrt{{{d_k}}}"] * (self.scale is None) + [number(self.temperature or 1)] * cooled
        way, divisor = (r" \cdot ".join(part) for part in (above, below))
        return ScoreDerivation(words, raw * self.factor(d_k), rf"\frac{{{way}}}{{{divisor}}}" if divisor else way)

    def stages(self, d_k: int) -> tuple[Stage, ...]:
        uncapped = Scaled(self.base, self.scale, self.temperature)
        scaled = Text("scaled", "Scaled scores", *self._described(d_k), Role.SCORES)
        stages = (*self.base.stages(d_k), Stage(scaled, uncapped))
        if self.cap is None:
            return stages
        capped = Text(
            "capped",
            "Capped scores",
            "tanh",
            rf"S'' = {self.cap:.3g}\, \tanh\!\left(\frac{{S'}}{{{self.cap:.3g}}}\right)",
            f"scores = torch.tanh(scores / {self.cap!r}) * {self.cap!r}",
            f"A soft limit: small scores stay as they are, large ones bend towards {self.cap:.3g}.",
            Role.SCORES,
        )
        return (*stages, Stage(capped, self))

    @property
    def _is_only_cooled(self) -> bool:
        return self.scale == 1 and self.temperature is not None

    def _described(self, d_k: int) -> tuple[str, str, str, str]:
        """Return symbol, formula, code and explanation of the scaled scores."""
        symbol = top = code = why = ""
        divisors: list[str] = []
        if self.scale is None:
            symbol, code, divisors = "÷√dₖ", " / d_k ** 0.5", [r"\sqrt{d_k}", rf"\sqrt{{{d_k}}}", f"{d_k**0.5:.3g}"]
            why = (
                f"The sum of {d_k} products grows with {d_k}; dividing by its square root keeps the softmax from "
                "saturating. The picture stays the same, its scale shrinks. "
            )
        elif not self._is_only_cooled:
            symbol, top, code = f"×{self.scale:.3g}", rf"{self.scale:.3g}\, ", f" * {self.scale!r}"
            why = "The factor decides how sharply the softmax chooses: 0 looks everywhere alike, large looks at one. "
        heat = self.temperature
        if heat is not None:
            symbol, code = f"{symbol}÷T", f"{code} / {heat!r}"
            divisors = ["T", f"{heat:.3g}"] if self.scale is not None else [r"\sqrt{d_k}\,T", f"{d_k**0.5 * heat:.3g}"]
            effect = "evens the weights out" if heat > 1 else "lets the largest score win"
            why += f"The temperature {heat:.3g} {'leaves the scores as they are' if heat == 1 else effect}."
        formula = " = ".join(
            ["S'", *(rf"\frac{{{top}S}}{{{divisor}}}" for divisor in divisors)] if divisors else ["S'", f"{top}S"]
        )
        return symbol, formula, f"scores = scores{code}", why.strip()
