"""Scoring functions f(q, k): each way to compare a query with a key is a class, registered in SCORES.

A new one is a class here; every page, trace and file then knows it. Scaling is a wrapper of its own, see Scaled.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import torch
from torch import Tensor

from attention_core.attention.types import Matrix, Origin, Role, Rows, Text

MAX_TERMS = 4  # products written out before the dots


def format_latex(value: float) -> str:
    """Return a number as short LaTeX: three significant digits, powers of ten where needed."""
    if value == 0 or 0.001 <= abs(value) < 999.5:
        return f"{value:.3g}"
    if 999.5 <= abs(value) < 100_000:
        return f"{value:.0f}"
    if not math.isfinite(value):
        return r"-\infty" if value < 0 else r"\infty"
    mantissa, exponent = f"{value:.1e}".split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def format_products(left: Tensor, right: Tensor) -> str:
    """Return the products of two vectors (d,) and the plus signs between them."""
    return join_terms(rf"{_signed(a)} \cdot {_signed(b)}" for a, b in zip(left.tolist(), right.tolist(), strict=True))


def join_terms(terms: Iterable[str]) -> str:
    texts = list(terms)
    return " + ".join(texts[:MAX_TERMS] + [r"\dots"] * (len(texts) > MAX_TERMS))


def _signed(value: float) -> str:
    return f"({format_latex(value)})" if value < 0 else format_latex(value)


class ScoreStep(NamedTuple):
    """An intermediate matrix of the scores, which becomes a Step of a trace."""

    text: Text  # the first one is called "scores"
    compute: Score  # the score up to here, (query, key) -> (..., n_queries, n_keys)


class VectorPair(NamedTuple):
    query: Tensor  # (d_q,)
    key: Tensor  # (d_k,)
    cell: tuple[int, int] = (0, 0)  # position of the query and of the key


class ScoreDerivation(NamedTuple):
    value: float  # the score
    formula: str = ""  # LaTeX of its computation, without the score itself; empty where that is too long


@dataclass(frozen=True, eq=False)
class Score(ABC):
    """A scoring function: maps query (..., n_queries, d_q) and key (..., n_keys, d_k) to (..., n_queries, n_keys).

    The fields of a subclass are its parameters, all of them tensors.
    """

    name: ClassVar[str]  # what people call it
    short: ClassVar[str] = ""  # its formula in one line of HTML
    picture: ClassVar[str] = ""  # what its scores look like over a plane of keys
    symbol: ClassVar[str] = ""  # see Text, as formula, code and explanation are
    formula: ClassVar[str] = ""
    code: ClassVar[str] = ""
    explanation: ClassVar[str] = ""

    @abstractmethod
    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the score of every pair, in a tensor of its own, which the caller may change."""

    def derive(self, pair: VectorPair) -> ScoreDerivation:
        return ScoreDerivation(float(self(pair.query[None], pair.key[None])))

    @classmethod
    def plain_parameters(cls, d_q: int, d_k: int, n_keys: int, n_hidden: int | None = None) -> dict[str, Tensor]:
        """Return the simplest parameters, identities and ones, in the order of the fields.

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

    def steps(self, d_k: int) -> tuple[ScoreStep, ...]:
        """Return the steps of the computation in order; the last one equals the call."""
        texts = self.symbol, self.formula, self.code, self.explanation
        return (ScoreStep(Text("scores", "Scores", *texts, Role.SCORES), self),)

    def origin(self, query: Tensor, key: Tensor) -> Origin:
        """Return how the scores of queries (n_queries, d_q) with keys (n_keys, d_k) come about."""
        if not 0 < query.shape[1] == key.shape[1]:
            return Origin()
        return Origin("pairs", (Matrix(query, Role.QUERY, "Q"), Matrix(key.T, Role.KEY, "Kᵀ")))

    def dot_factor(self, d_k: int) -> float | None:
        """Return what a fused kernel multiplies dot products by to get these scores; None = they are others."""
        return None

    def bound(self, d_k: int) -> float | None:
        """Return c with |score| <= c |q| |k| for every query and key; None = unknown."""
        return None

    def to_json_value(self) -> dict[str, Any]:
        """Return name and parameters as JSON has them, for scores.score_from_json()."""
        return {"score": self.name, **{name: parameter.tolist() for name, parameter in self.parameters().items()}}


@dataclass(frozen=True, eq=False)
class Scaled(Score):
    """A scoring function times a factor, divided by a temperature, with a soft cap.

    Source of the cap: Gemma Team 2024, "Gemma 2", section 2, logit soft-capping.
    """

    base: Score  # gives the raw scores
    scale: float | None = None  # the factor; None = 1 / sqrt(d_k); 0 makes every weight the same
    temperature: float | None = None  # above 1 evens weights out, near 0 the largest takes all; None = 1, not shown
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
        if self.scale is None and not d_k:
            raise ValueError("queries and keys of no numbers, d_k = 0, need a scale of their own")
        return (1 / math.sqrt(d_k) if self.scale is None else self.scale) / (self.temperature or 1)

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        return self._scale_and_cap(self.base(query, key), key.shape[-1])

    def tile(self, query: Tensor, key: Tensor, cols: Rows) -> Tensor:
        return self._scale_and_cap(self.base.tile(query, key, cols), key.shape[-1])

    def _scale_and_cap(self, raw: Tensor, d_k: int) -> Tensor:
        scaled = raw.mul_(self.factor(d_k))  # in place: half the memory
        return scaled if self.cap is None else (scaled / self.cap).tanh() * self.cap

    def dot_factor(self, d_k: int) -> float | None:
        inner = self.base.dot_factor(d_k)
        return None if inner is None or self.cap is not None else inner * self.factor(d_k)

    def bound(self, d_k: int) -> float | None:
        inner = self.base.bound(d_k)
        return None if inner is None else inner * abs(self.factor(d_k))

    def to(self, dtype: torch.dtype) -> Scaled:
        return Scaled(self.base.to(dtype), self.scale, self.temperature, self.cap)

    def to_json_value(self) -> dict[str, Any]:
        temperature = {} if self.temperature is None else {"temperature": self.temperature}
        return {**self.base.to_json_value(), "scale": self.scale, "softcap": self.cap, **temperature}

    def derive(self, pair: VectorPair) -> ScoreDerivation:
        if self.cap is not None:
            inner = Scaled(self.base, self.scale, self.temperature).derive(pair).value
            formula = rf"{self.cap:.3g}\, \tanh\!\left(\frac{{{format_latex(inner)}}}{{{self.cap:.3g}}}\right)"
            return ScoreDerivation(math.tanh(inner / self.cap) * self.cap, formula)
        raw, d_k = self.base.derive(pair).value, len(pair.key)
        factors, divisors = [format_latex(raw)], [rf"\sqrt{{{d_k}}}"] if self.scale is None else []
        if self.scale is not None and not self._has_only_temperature:
            factors.append(format_latex(self.scale))
        if self.temperature is not None:
            divisors.append(format_latex(self.temperature))
        numerator, denominator = (r" \cdot ".join(texts) for texts in (factors, divisors))
        formula = rf"\frac{{{numerator}}}{{{denominator}}}" if denominator else numerator
        return ScoreDerivation(raw * self.factor(d_k), formula)

    def steps(self, d_k: int) -> tuple[ScoreStep, ...]:
        uncapped = Scaled(self.base, self.scale, self.temperature)
        scaled = Text("scaled", "Scaled scores", *self._texts(d_k), Role.SCORES)
        steps = (*self.base.steps(d_k), ScoreStep(scaled, uncapped))
        if self.cap is None:
            return steps
        capped = Text(
            "capped",
            "Capped scores",
            "tanh",
            rf"S'' = {self.cap:.3g}\, \tanh\!\left(\frac{{S'}}{{{self.cap:.3g}}}\right)",
            f"scores = torch.tanh(scores / {self.cap!r}) * {self.cap!r}",
            f"A soft limit: small scores stay as they are, large ones bend towards {self.cap:.3g}.",
            Role.SCORES,
        )
        return (*steps, ScoreStep(capped, self))

    @property
    def _has_only_temperature(self) -> bool:
        return self.scale == 1 and self.temperature is not None

    def _texts(self, d_k: int) -> tuple[str, str, str, str]:
        symbol = top = code = why = ""
        divisors: list[str] = []
        if self.scale is None:
            symbol, code, divisors = "÷√dₖ", " / d_k ** 0.5", [r"\sqrt{d_k}", rf"\sqrt{{{d_k}}}", f"{d_k**0.5:.3g}"]
            why = (
                f"The sum of {d_k} products grows with {d_k}; dividing by its square root keeps the softmax from "
                "saturating. The picture stays the same, its scale shrinks. "
            )
            if not isinstance(self.base, Dot | General):
                why = f"Every score is divided by √{d_k}, as a dot product of {d_k} numbers would be. "
            why = why if d_k > 1 else "The square root of 1 is 1: the scores stay as they are. "
        elif not self._has_only_temperature:
            symbol, top, code = f"×{self.scale:.3g}", rf"{self.scale:.3g}\, ", f" * {self.scale!r}"
            why = "The factor decides how sharply the softmax chooses: 0 looks everywhere alike, large looks at one. "
        temperature = self.temperature
        if temperature is not None:
            symbol, code = f"{symbol}÷T", f"{code} / {temperature!r}"
            root = (r"\sqrt{d_k}\,", d_k**0.5) if self.scale is None else ("", 1)
            divisors = [f"{root[0]}T", f"{root[1] * temperature:.3g}"]
            temperature_text = f"{temperature:.3g}"
            temperature_text = f"{temperature:.12g}" if temperature_text == "1" else temperature_text
            effect = "evens the weights out" if temperature > 1 else "chooses more sharply"
            effect = f"With the temperature {temperature_text} the softmax {effect}."
            why += "The temperature 1 leaves the scores as they are." if temperature == 1 else effect
        fractions = [rf"\frac{{{top}S}}{{{divisor}}}" for divisor in divisors] or [f"{top}S"]
        return symbol, " = ".join(["S'", *fractions]), f"scores = scores{code}", why.strip()


SCORES: dict[str, type[Score]] = {}  # all scoring functions by name; scaling is a matter of its own, see Scaled

ScoreClass = TypeVar("ScoreClass", bound=type[Score])


def register(cls: ScoreClass) -> ScoreClass:
    SCORES[cls.name] = cls
    return cls


def check_same_width(query: Tensor, key: Tensor) -> None:
    """Raise a ValueError for vectors of different widths."""
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query and key need the same d_k, got {query.shape[-1]} and {key.shape[-1]}")


@register
class Dot(Score):
    """q . k. Source: Luong et al. 2015, eq. 8, "dot"."""

    name = "dot"
    short = "q · k"
    picture = "Half-planes: level lines are straight, at right angles to q."
    symbol = "QKᵀ"
    formula = r"S = Q K^{\top}, \qquad S_{ij} = q_i \cdot k_j"
    code = "scores = query @ key.transpose(-2, -1)"
    explanation = "Every query meets every key: one dot product per cell. Large where the two point the same way."

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        check_same_width(query, key)
        return query @ key.transpose(-2, -1)

    def derive(self, pair: VectorPair) -> ScoreDerivation:
        formula = rf"q_{{{pair.cell[0] + 1}}} \cdot k_{{{pair.cell[1] + 1}}} = {format_products(pair.query, pair.key)}"
        return ScoreDerivation(float(pair.query @ pair.key), formula)

    def origin(self, query: Tensor, key: Tensor) -> Origin:
        return super().origin(query, key)._replace(kind="product")

    def dot_factor(self, d_k: int) -> float:
        return 1.0

    def bound(self, d_k: int) -> float:
        """Return 1: the inequality of Cauchy and Schwarz."""
        return 1.0


class ScaledDot(Scaled):
    """q . k times a scale, 1 / sqrt(d_k) unless given. Source: Vaswani et al. 2017, eq. 1."""

    short = "q · k / √d"
    picture = "The same half-planes, less steep by √2."

    def __init__(self, scale: float | None = None, cap: float | None = None) -> None:
        super().__init__(Dot(), scale, cap=cap)


@register
@dataclass(frozen=True, eq=False)
class General(Score):
    """q^T W k. Source: Luong et al. 2015, eq. 8, "general"."""

    name = "general"
    short = "q<sup>⊤</sup>W k"
    picture = "Half-planes again, at right angles to Wᵀq."
    symbol = "QWKᵀ"
    formula = r"S_{ij} = q_i^{\top} W k_j"
    code = "scores = query @ W @ key.transpose(-2, -1)"
    explanation = "A learned matrix decides which direction of the query answers to which direction of the key."

    W: Tensor  # (d_q, d_k)

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        if (query.shape[-1], key.shape[-1]) != tuple(self.W.shape):
            raise ValueError(f"W must be (d_q, d_k) = ({query.shape[-1]}, {key.shape[-1]}), got {tuple(self.W.shape)}")
        return query @ self.W @ key.transpose(-2, -1)

    @classmethod
    def plain_parameters(cls, d_q: int, d_k: int, n_keys: int, n_hidden: int | None = None) -> dict[str, Tensor]:
        return {"W": _identity(d_q, d_k)}


@register
class Cosine(Score):
    """cos(q, k), in [-1, 1]; 0 where a vector is 0. Source: Graves et al. 2014, eq. 6."""

    name = "cosine"
    short = "q · k / (|q| |k|)"
    picture = "A cone: only the direction counts."
    symbol = "cos(q,k)"
    formula = r"S_{ij} = \frac{q_i \cdot k_j}{\lVert q_i \rVert\, \lVert k_j \rVert}"
    code = "scores = normalize(query, dim=-1) @ normalize(key, dim=-1).transpose(-2, -1)"
    explanation = "Only the angle counts; lengths are divided out, so no key can win by being long."

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        normalise = torch.nn.functional.normalize
        return Dot()(normalise(query, dim=-1, eps=1e-12), normalise(key, dim=-1, eps=1e-12))

    def derive(self, pair: VectorPair) -> ScoreDerivation:
        value, dot = float(self(pair.query[None], pair.key[None])), float(pair.query @ pair.key)
        lengths = rf"{format_latex(float(pair.query.norm()))} \cdot {format_latex(float(pair.key.norm()))}"
        return ScoreDerivation(value, rf"\frac{{{format_latex(dot)}}}{{{lengths}}}")


@register
@dataclass(frozen=True, eq=False)
class Additive(Score):
    """v^T tanh(W_q q + W_k k). Source: Bahdanau et al. 2015, appendix A.1.2."""

    name = "additive"
    short = "v<sup>⊤</sup>tanh(W<sub>q</sub> q + W<sub>k</sub> k)"
    picture = "Ridges that saturate, trained into a hill around q."
    symbol = "vᵀtanh"
    formula = r"S_{ij} = v^{\top} \tanh(W_q q_i + W_k k_j)"
    code = "scores = torch.tanh(query[:, None] @ W_q.T + key[None] @ W_k.T) @ v"
    explanation = "A small network with one hidden layer looks at query and key together."

    W_q: Tensor  # (d_a, d_q)
    W_k: Tensor  # (d_a, d_k)
    v: Tensor  # (d_a,)

    def __post_init__(self) -> None:
        _check_rows(f"{self.name}.W_q", self.W_q, self.v)
        _check_rows(f"{self.name}.W_k", self.W_k, self.v)

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        expected, widths = (self.W_q.shape[-1], self.W_k.shape[-1]), (query.shape[-1], key.shape[-1])
        if expected != widths:
            raise ValueError(f"W_q and W_k know queries and keys of {expected} numbers, got {widths}")
        return self._hidden(query, key) @ self.v

    def _hidden(self, query: Tensor, key: Tensor) -> Tensor:
        return ((query @ self.W_q.T).unsqueeze(-2) + (key @ self.W_k.T).unsqueeze(-3)).tanh()

    def origin(self, query: Tensor, key: Tensor) -> Origin:
        """Return the product that a single query has: of v with what the hidden layer makes of it and each key."""
        if len(query) != 1:
            return super().origin(query, key)
        hidden = Matrix(self._hidden(query, key)[0].T, Role.KEY, "tanhᵀ")
        return Origin("product", (Matrix(self.v[None], Role.SCORES, "v"), hidden))

    @classmethod
    def plain_parameters(cls, d_q: int, d_k: int, n_keys: int, n_hidden: int | None = None) -> dict[str, Tensor]:
        n = n_hidden or max(d_q, d_k)
        return {"W_q": _identity(n, d_q), "W_k": _identity(n, d_k), "v": torch.ones(n, dtype=torch.float64)}


@register
@dataclass(frozen=True, eq=False)
class Concat(Score):
    """v^T tanh(W [q; k]). Source: Luong et al. 2015, eq. 8, "concat". With W = [W_q, W_k] it equals Additive."""

    name = "concat"
    short = "v<sup>⊤</sup>tanh(W [q; k])"
    picture = "The same kind of ridges, trained from another start."
    symbol = "vᵀtanh[q;k]"
    formula = r"S_{ij} = v^{\top} \tanh(W [q_i; k_j])"
    code = (
        "pairs = torch.stack([torch.cat((q, k)) for q in query for k in key])\n"
        "scores = (torch.tanh(pairs @ W.T) @ v).view(len(query), len(key))"
    )
    explanation = "Query and key are laid end to end and a small network looks at both."

    W: Tensor  # (d_a, d_q + d_k)
    v: Tensor  # (d_a,)

    def __post_init__(self) -> None:
        _check_rows(f"{self.name}.W", self.W, self.v)

    def _as_additive(self, d_q: int, d_k: int) -> Additive:
        if self.W.shape[-1] != d_q + d_k:
            raise ValueError(f"W needs {d_q + d_k} columns for [q; k], got {self.W.shape[-1]}")
        return Additive(self.W[:, :d_q], self.W[:, d_q:], self.v)

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        return self._as_additive(query.shape[-1], key.shape[-1])(query, key)

    @classmethod
    def plain_parameters(cls, d_q: int, d_k: int, n_keys: int, n_hidden: int | None = None) -> dict[str, Tensor]:
        W_q, W_k, v = Additive.plain_parameters(d_q, d_k, n_keys, n_hidden).values()
        return {"W": torch.cat([W_q, W_k], 1), "v": v}


@register
@dataclass(frozen=True, eq=False)
class Location(Score):
    """W q: a score per position that never looks at the key. Source: Luong et al. 2015, eq. 9, "location"."""

    name = "location"
    short = "(W q)<sub>j</sub>, no key in it"
    picture = "Flat: where the key lies plays no part."
    symbol = "Wq"
    formula = r"S_{ij} = (W q_i)_j"
    code = "scores = query @ W[:n_keys].T  # no key in sight"
    explanation = "The query alone decides which position to look at; what stands there plays no part."

    W: Tensor  # (n_positions, d_q); a score for each of the first n_keys positions

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        return self.tile(query, key, slice(None))

    def tile(self, query: Tensor, key: Tensor, cols: Rows) -> Tensor:
        if key.shape[-2] > self.W.shape[0]:
            raise ValueError(f"location scores know {self.W.shape[0]} positions, got {key.shape[-2]} keys")
        if query.shape[-1] != self.W.shape[-1]:
            raise ValueError(f"location scores know queries of {self.W.shape[-1]} numbers, got {query.shape[-1]}")
        return query @ self.W[: key.shape[-2]][cols].T

    @classmethod
    def plain_parameters(cls, d_q: int, d_k: int, n_keys: int, n_hidden: int | None = None) -> dict[str, Tensor]:
        return {"W": _identity(d_q, d_q)[torch.arange(n_keys) % d_q]}

    def derive(self, pair: VectorPair) -> ScoreDerivation:
        return ScoreDerivation(float(self.W[pair.cell[1]] @ pair.query))


@register
class L2(Score):
    """-|q - k|^2 / 2, a soft nearest-neighbour look-up; with the temperature tau of Scaled, -|q - k|^2 / (2 tau).

    The softmax is a Gaussian bump around the query, sqrt(tau) wide. Source: Nadaraya 1964, "On estimating regression".
    """

    name = "L2 distance"
    short = "−|q − k|² / 2"
    picture = "A hill around q: only nearness counts, in all directions alike."
    symbol = "−½|q−k|²"
    formula = r"S_{ij} = -\tfrac{1}{2} \lVert q_i - k_j \rVert^2"
    code = "scores = -0.5 * (query[:, None] - key[None]).square().sum(-1)"
    explanation = (
        "A far key never wins by being long: only nearness counts, and 0 is an exact match. Among keys of equal length "
        "the order is that of the dot product. After the softmax the weights are a bump around the query, as wide as "
        "the square root of the temperature."
    )

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        check_same_width(query, key)
        return 0 - 0.5 * (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)  # 0 -: a match scores 0, not -0

    def derive(self, pair: VectorPair) -> ScoreDerivation:
        halves = 0 - 0.5 * (pair.query - pair.key).square()
        pairs = zip(pair.query.tolist(), pair.key.tolist(), strict=True)
        squares = join_terms(f"({q:.4g} - {k:.4g})^2".replace("- -", "+ ") for q, k in pairs)
        formula = rf"-\tfrac{{1}}{{2}} {squares if len(halves) == 1 else rf'({squares})'}"
        return ScoreDerivation(float(halves.sum()), formula)


def _identity(n_rows: int, n_columns: int) -> Tensor:
    return torch.eye(n_rows, n_columns, dtype=torch.float64)


def _check_rows(name: str, matrix: Tensor, vector: Tensor) -> None:
    if matrix.shape[0] != vector.shape[0]:
        raise ValueError(f"{name} {tuple(matrix.shape)} needs as many rows as v {tuple(vector.shape)} has numbers")


def parameter_names() -> tuple[str, ...]:
    """Return the names of all parameters of all scoring functions, such as "general.W"."""
    return tuple(name for score_class in SCORES.values() for name in score_class.parameter_names())


def all_scores(parameters: Mapping[str, Tensor]) -> dict[str, Score]:
    """Return every scoring function by name, the dot product without and with its scale.

    A ValueError says which of parameter_names() is missing, or what does not fit together.
    """
    missing = [name for name in parameter_names() if name not in parameters]
    if missing:
        raise ValueError(f"parameters need {', '.join(parameter_names())}; missing: {', '.join(missing)}")
    scores: dict[str, Score] = {"dot": Dot(), "scaled dot": ScaledDot()}
    for name, score_class in SCORES.items():
        scores[name] = score_class(*(parameters[parameter] for parameter in score_class.parameter_names()))
    return scores


def score_from_json(values: Mapping[str, Any]) -> Score:
    """Return the score of which to_json_value() made the values, with parameters in float64; others are ignored.

    A KeyError where the score is not in SCORES, or lacks a parameter.
    """
    score_class = SCORES[values["score"]]
    base = score_class(*(torch.tensor(values[field.name], dtype=torch.float64) for field in fields(score_class)))
    if "scale" not in values:
        return base
    settings = (values["scale"], values.get("temperature"), values["softcap"])
    return Scaled(base, *(None if factor is None else float(factor) for factor in settings))


def printed_concat(vector: Tensor) -> Concat:
    """Return v^T tanh([q; k]), v (d_q + d_k,), a formula often printed: Concat with the identity for the missing W.

    It cannot attend: v^T tanh([q; k]) = v_q^T tanh(q) + v_k^T tanh(k), and the first part is the same for every key, so
    that the softmax over keys cancels it and every query gets the same weights.
    """
    return Concat(torch.eye(vector.shape[0], dtype=vector.dtype, device=vector.device), vector)
