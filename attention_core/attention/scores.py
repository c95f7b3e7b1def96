"""Scoring functions f(q, k): seven ways to compare a query with a key.

Each is a small frozen value that maps query (..., n_queries, d_q) and key (..., n_keys, d_k) to scores
(..., n_queries, n_keys), so that any tile of a large matrix is the score of a few rows and a few columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor


class Stage(NamedTuple):
    """A matrix on the way to the scores, for people to stop at.

    Attributes:
        name: identifier; the last stage of a scoring function is called "scores" or "scaled".
        title: heading.
        symbol: text on the stepper's chip.
        formula: LaTeX.
        code: PyTorch.
        explanation: one to three sentences.
        compute: (query, key) -> (..., n_queries, n_keys).
    """

    name: str
    title: str
    symbol: str
    formula: str
    code: str
    explanation: str
    compute: Callable[[Tensor, Tensor], Tensor]


class Score(Protocol):
    """A scoring function: callable, with stages for the stepper; the last stage equals the call."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        """Map query (..., n_queries, d_q) and key (..., n_keys, d_k) to scores (..., n_queries, n_keys)."""
        ...

    def stages(self, d_k: int) -> tuple[Stage, ...]:
        """Return the stages in order."""
        ...


def _dot(query: Tensor, key: Tensor) -> Tensor:
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query and key need the same d_k, got {query.shape[-1]} and {key.shape[-1]}")
    return query @ key.transpose(-2, -1)


_RAW_DOT = Stage(
    "scores",
    "Scores",
    "QKᵀ",
    r"S = Q K^{\top}, \qquad S_{ij} = q_i \cdot k_j",
    "scores = query @ key.transpose(-2, -1)",
    "Every query meets every key: one dot product per cell. Large where the two point the same way.",
    _dot,
)


@dataclass(frozen=True, eq=False)
class Dot:
    """q . k. Source: Luong et al. 2015, eq. 8, "dot"."""

    name: str = "dot"

    def factor(self, d_k: int) -> float:
        """Return the number by which dot products are multiplied: 1."""
        return 1.0

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        """Return q . k for every pair."""
        return _dot(query, key)

    def stages(self, d_k: int) -> tuple[Stage, ...]:
        """Return the single stage."""
        return (_RAW_DOT,)


@dataclass(frozen=True, eq=False)
class ScaledDot:
    """q . k times a scale, 1 / sqrt(d_k) unless given. Source: Vaswani et al. 2017, eq. 1.

    Attributes:
        scale: factor on the dot product; None = 1 / sqrt(d_k); 0 makes every weight the same.
    """

    scale: float | None = None
    name: str = "scaled dot"

    def factor(self, d_k: int) -> float:
        """Return the number by which dot products are multiplied."""
        return 1 / math.sqrt(d_k) if self.scale is None else self.scale

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the scaled q . k for every pair."""
        return _dot(query, key).mul_(self.factor(query.shape[-1]))  # in place: half the memory

    def stages(self, d_k: int) -> tuple[Stage, ...]:
        """Return the raw scores, then the scaled ones."""
        if self.scale is None:
            formula = (
                rf"S' = \frac{{S}}{{\sqrt{{d_k}}}} = \frac{{S}}{{\sqrt{{{d_k}}}}} = \frac{{S}}{{{math.sqrt(d_k):.3g}}}"
            )
            symbol, code = "÷√dₖ", "scores = scores / d_k ** 0.5"
        else:
            formula, symbol = rf"S' = {self.scale:.3g}\, S", f"×{self.scale:.3g}"
            code = f"scores = scores * {self.scale!r}"
        why = (
            f"The sum of {d_k} products grows with {d_k}; dividing by its square root keeps the softmax from "
            "saturating. The picture stays the same, its scale shrinks."
            if self.scale is None
            else "The factor decides how sharply the softmax chooses: 0 looks everywhere alike, large looks at one."
        )
        return _RAW_DOT, Stage("scaled", "Scaled scores", symbol, formula, code, why, self)


@dataclass(frozen=True, eq=False)
class General:
    """q^T W k. Source: Luong et al. 2015, eq. 8, "general".

    Attributes:
        weight: (d_q, d_k).
    """

    weight: Tensor
    name: str = "general"

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        """Return q^T W k for every pair."""
        if (query.shape[-1], key.shape[-1]) != tuple(self.weight.shape):
            raise ValueError(
                f"W must be (d_q, d_k) = ({query.shape[-1]}, {key.shape[-1]}), got {tuple(self.weight.shape)}"
            )
        return query @ self.weight @ key.transpose(-2, -1)

    def stages(self, d_k: int) -> tuple[Stage, ...]:
        """Return the single stage."""
        return (
            Stage(
                "scores",
                "Scores",
                "QWKᵀ",
                r"S_{ij} = q_i^{\top} W k_j",
                "scores = query @ weight @ key.transpose(-2, -1)",
                "A learned matrix decides which direction of the query answers to which direction of the key.",
                self,
            ),
        )


@dataclass(frozen=True, eq=False)
class Cosine:
    """cos(q, k), in [-1, 1]; 0 where a vector is 0. Source: Graves et al. 2014, eq. 6."""

    name: str = "cosine"

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the cosine for every pair."""
        normalise = torch.nn.functional.normalize
        return _dot(normalise(query, dim=-1, eps=1e-12), normalise(key, dim=-1, eps=1e-12))

    def stages(self, d_k: int) -> tuple[Stage, ...]:
        """Return the single stage."""
        return (
            Stage(
                "scores",
                "Scores",
                "cos(q,k)",
                r"S_{ij} = \frac{q_i \cdot k_j}{\lVert q_i \rVert\, \lVert k_j \rVert}",
                "scores = normalize(query, dim=-1) @ normalize(key, dim=-1).transpose(-2, -1)",
                "Only the angle counts; lengths are divided out, so no key can win by being long.",
                self,
            ),
        )


@dataclass(frozen=True, eq=False)
class Additive:
    """v^T tanh(W_q q + W_k k). Source: Bahdanau et al. 2015, appendix A.1.2.

    Attributes:
        query_weight: (d_a, d_q), W_q.
        key_weight: (d_a, d_k), W_k.
        vector: (d_a,), v.
    """

    query_weight: Tensor
    key_weight: Tensor
    vector: Tensor
    name: str = "additive"

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        """Return v^T tanh(W_q q + W_k k) for every pair."""
        hidden = (query @ self.query_weight.T).unsqueeze(-2) + (key @ self.key_weight.T).unsqueeze(-3)
        return hidden.tanh() @ self.vector

    def stages(self, d_k: int) -> tuple[Stage, ...]:
        """Return the single stage."""
        return (
            Stage(
                "scores",
                "Scores",
                "vᵀtanh",
                r"S_{ij} = v^{\top} \tanh(W_q q_i + W_k k_j)",
                "scores = torch.tanh(query[:, None] @ W_q.T + key[None] @ W_k.T) @ v",
                "A small network with one hidden layer looks at query and key together.",
                self,
            ),
        )


@dataclass(frozen=True, eq=False)
class Concat:
    """v^T tanh(W [q; k]). Source: Luong et al. 2015, eq. 8, "concat". With W = [W_q, W_k] it equals Additive.

    Attributes:
        weight: (d_a, d_q + d_k), W.
        vector: (d_a,), v.
    """

    weight: Tensor
    vector: Tensor
    name: str = "concat"

    def __call__(self, query: Tensor, key: Tensor) -> Tensor:
        """Return v^T tanh(W [q; k]) for every pair."""
        d_q = query.shape[-1]
        if self.weight.shape[-1] != d_q + key.shape[-1]:
            raise ValueError(f"W needs {d_q + key.shape[-1]} columns for [q; k], got {self.weight.shape[-1]}")
        return Additive(self.weight[:, :d_q], self.weight[:, d_q:], self.vector)(query, key)

    def stages(self, d_k: int) -> tuple[Stage, ...]:
        """Return the single stage."""
        return (
            Stage(
                "scores",
                "Scores",
                "vᵀtanh[q;k]",
                r"S_{ij} = v^{\top} \tanh(W [q_i; k_j])",
                "scores = torch.tanh(pairs @ W.T) @ v  # pairs = [query; key] for every pair",
                "Query and key are laid end to end and a small network looks at both.",
                self,
            ),
        )


@dataclass(frozen=True, eq=False)
class Location:
    """W q: a score per position that never looks at the key. Source: Luong et al. 2015, eq. 9, "location".

    Attributes:
        weight: (n_positions, d_q); a score for each of the first n_keys positions.
    """

    weight: Tensor
    name: str = "location"
    looks_at_keys: bool = False

    def __call__(self, query: Tensor, key: Tensor, cols: Tensor | None = None) -> Tensor:
        """Return W q for every pair; `cols` names the keys' positions when only some are asked for."""
        if key.shape[-2] > self.weight.shape[0]:
            raise ValueError(f"location scores know {self.weight.shape[0]} positions, got {key.shape[-2]} keys")
        weight = self.weight[: key.shape[-2]] if cols is None else self.weight[cols]
        return query @ weight.T

    def stages(self, d_k: int) -> tuple[Stage, ...]:
        """Return the single stage."""
        return (
            Stage(
                "scores",
                "Scores",
                "Wq",
                r"S_{ij} = (W q_i)_j",
                "scores = query @ weight.T  # no key in sight",
                "The query alone decides which position to look at; what stands there plays no part.",
                self,
            ),
        )


def printed_concat(vector: Tensor) -> Concat:
    """Return v^T tanh([q; k]), a formula often printed: Concat whose W is missing, that is, the identity.

    It cannot attend: v^T tanh([q; k]) = v_q^T tanh(q) + v_k^T tanh(k), and the first part is the same for every key,
    so that the softmax over keys cancels it and every query gets the same weights.

    Args:
        vector: (d_q + d_k,), v.
    """
    return Concat(torch.eye(vector.shape[0], dtype=vector.dtype, device=vector.device), vector)
