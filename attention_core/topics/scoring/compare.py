"""The same query and keys through all scoring functions, and as fields over key positions; scores by d_k, measured.

The dot product of two vectors of d_k independent numbers of variance 1 has variance d_k. Source: Vaswani et al. 2017,
footnote 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from attention_core.attention.export import trace_to_frame
from attention_core.attention.scores import Score
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story

if TYPE_CHECKING:
    import pandas as pd


def compare(scores: Mapping[str, Score], query: Tensor, key: Tensor) -> dict[str, AttentionTrace]:
    """Return a trace per scoring function for the same query (n_queries, d) and keys (n_keys, d), their own values."""
    queries = Axis("queries", ["q"] if len(query) == 1 else [f"q{place + 1}" for place in range(len(query))])
    keys = Axis("keys", [f"k{place + 1}" for place in range(len(key))])
    return {
        name: AttentionTrace(
            query=query[None],
            key=key[None],
            value=key[None],
            score=score,
            story=Story(mechanism=f"{name} attention", query_axis=queries, key_axis=keys),
        )
        for name, score in scores.items()
    }


def score_field(score: Score, query: Tensor, *, extent: float, n: int = 64) -> Tensor:
    """Return the score that a key would get at every point of the plane from -extent to extent, (n, n), top row first.

    Every point is the only key of its own row, so that a function that does not look at keys is the same everywhere.
    """
    ticks = torch.linspace(-extent, extent, n, dtype=query.dtype, device=query.device)
    y, x = torch.meshgrid(ticks.flip(0), ticks, indexing="ij")
    points = torch.stack([x, y], -1).reshape(-1, 1, 2)
    return score(query[None], points).expand(n * n, 1, 1).reshape(n, n)


UNDECIDED = 0.01
"""Weights that differ by less count as equal."""


class FavouriteKey(NamedTuple):
    key: int | None  # its position; None when all weights lie within 1 % of each other
    weight: float  # what it gets; ties go to the first


def favourites(traces: Mapping[str, AttentionTrace]) -> dict[str, FavouriteKey]:
    """Return each function's favourite key for the first query."""
    chosen = {}
    for name, trace in traces.items():
        weights = trace.weights(0, [0])[0]
        weight, key = weights.max(-1)
        undecided = float(weight - weights.min()) < UNDECIDED
        chosen[name] = FavouriteKey(None if undecided else int(key), float(weight))
    return chosen


def comparison_frame(traces: Mapping[str, AttentionTrace]) -> pd.DataFrame:
    """Return one row per function, query and key: function, query, key, their labels, score, weight."""
    import pandas as pd

    return pd.concat([trace_to_frame(trace).assign(function=name) for name, trace in traces.items()], ignore_index=True)


def nearest_key(query: Tensor, key: Tensor) -> int:
    """Return the position of the key (n_keys, d) at the smallest Euclidean distance from the query (d,)."""
    return int((key - query).square().sum(-1).argmin())


DIMENSIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class ScaleRow:
    """What was measured for one d_k."""

    d_k: int  # numbers in a vector
    scaled: bool  # whether scores were divided by sqrt(d_k)
    variance: float  # of the scores q . k.
    gradient: float  # Frobenius norm of the softmax's Jacobian, mean over queries; 0 = nothing can be learned any more


def random_scores(d_k: int, *, n_queries: int, n_keys: int, seed: int = 0) -> Tensor:
    """Return q . k for random queries with n_keys random keys each, (n_queries, n_keys); numbers have variance 1."""
    generator = torch.Generator().manual_seed(seed * 4099 + d_k)
    query = torch.randn(n_queries, 1, d_k, generator=generator)
    key = torch.randn(n_queries, n_keys, d_k, generator=generator)
    return (query * key).sum(-1)


def softmax_jacobian_norm(weights: Tensor) -> Tensor:
    """Return the Frobenius norm of d weights / d scores = diag(w) - w w^T, for weights (..., n_keys)."""
    squares = weights.square().sum(-1)
    return (squares - 2 * weights.pow(3).sum(-1) + squares.square()).clamp(min=0).sqrt()


def measure_scale() -> list[ScaleRow]:
    """Measure scores and softmax for each of DIMENSIONS, without and with the division by sqrt(d_k)."""
    rows = []
    for d_k in DIMENSIONS:
        raw = random_scores(d_k, n_queries=512, n_keys=16)
        for scaled in (False, True):
            scores = raw / math.sqrt(d_k) if scaled else raw
            weights = scores.softmax(-1)
            gradient = softmax_jacobian_norm(weights).mean().item()
            rows.append(ScaleRow(d_k, scaled, scores.var().item(), gradient))
    return rows


Vector = Sequence[float]
VECTOR_SIZES = (2, 3, 4, 8)
"""Numbers of a vector; only links of the first version have more than two."""
MIN_KEYS, MAX_KEYS = 2, 6
EXTENT = 4.0
"""Largest absolute value of a number in a vector."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """A query and its keys; no two are equal, so that a change is seen by `is`."""

    query: Vector  # d numbers
    keys: Sequence[Vector]  # as many numbers each
    note: str = ""  # one or two sentences on what to look at, with keys named k₁, k₂ and so on; "" = somebody's own
    name: str = ""  # of a preset, on its button

    @property
    def d(self) -> int:
        return len(self.query)

    @classmethod
    def parse(cls, text: str) -> Vectors:
        """Read vectors from an address, such as "2,1.5;1.75,2.25;3.5,2", the query first; ValueError for others."""
        query, *keys = [[float(number) for number in row.split(",")] for row in text[:1000].split(";")]
        if len(query) not in VECTOR_SIZES or not MIN_KEYS <= len(keys) <= MAX_KEYS:
            raise ValueError(f"text must hold a query and {MIN_KEYS} to {MAX_KEYS} keys, got {text[:60]!r}")
        if not all(len(row) == len(query) and all(abs(number) <= EXTENT for number in row) for row in [query, *keys]):
            raise ValueError(f"vectors must be equally long, with numbers up to {EXTENT}, got {text[:60]!r}")
        return cls(query, keys)

    def text(self) -> str:
        return ";".join(",".join(f"{number:.12g}" for number in row) for row in [self.query, *self.keys])


VECTOR_PRESETS = (
    Vectors(
        (2.0, 1.5),
        ((1.75, 2.25), (3.5, 2.0), (-2.25, 1.75), (0.75, 0.25)),
        "The other keys: k₃ points away from q, k₄ is short.",
        "Mixed",
    ),
    Vectors(
        (2.0, 2.0),
        ((2.35, 0.85), (1.25, 2.15), (-0.85, 2.35), (-2.35, 0.85)),
        "All keys are equally long: the two scores agree.",
        "Equal lengths",
    ),
    Vectors(
        (1.5, 1.5),
        ((1.5, 1.5), (3.9, 0.5), (-1.5, 1.5), (0.5, 1.0)),
        "k₁ is the query itself, k₂ is merely long. The dot product prefers the long one.",
        "One long key",
    ),
    Vectors(
        (2.0, 1.0),
        ((-1.0, 2.0), (-0.5, 1.0), (1.0, 2.5), (-2.5, 0.5)),
        "k₁ and k₂ stand at right angles to q: a score of 0, and still some weight.",
        "Right angles",
    ),
)
