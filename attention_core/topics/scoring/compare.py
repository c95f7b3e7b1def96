"""The same query and keys through all seven scoring functions, and each function as a field over key positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from attention_core.attention.export import trace_to_frame
from attention_core.attention.scores import Additive, Concat, Cosine, Dot, General, Location, ScaledDot, Score
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story

if TYPE_CHECKING:
    import pandas as pd

SCORE_NAMES = ("dot", "scaled dot", "general", "cosine", "additive", "concat", "location")
PARAMETER_NAMES = ("general.W", "additive.W_q", "additive.W_k", "additive.v", "concat.W", "concat.v", "location.W")
"""The learned numbers: W (d, d); W_q, W_k (d_a, d) and v (d_a,); W (d_a, 2 d) and v (d_a,); W (n_positions, d)."""


def seven_scores(parameters: Mapping[str, Tensor]) -> dict[str, Score]:
    """Return the seven scoring functions by name, in the order of SCORE_NAMES.

    Args:
        parameters: the tensors named in PARAMETER_NAMES.

    Raises:
        ValueError: one is missing, or shapes within a function do not fit together.
    """
    missing = [name for name in PARAMETER_NAMES if name not in parameters]
    if missing:
        raise ValueError(f"parameters need {', '.join(PARAMETER_NAMES)}; missing: {', '.join(missing)}")
    for name in ("additive.W_q", "additive.W_k", "concat.W"):
        vector = parameters[f"{name.split('.')[0]}.v"]
        if parameters[name].shape[0] != vector.shape[0]:
            raise ValueError(
                f"{name} {tuple(parameters[name].shape)} needs as many rows as v {tuple(vector.shape)} has numbers"
            )
    return {
        "dot": Dot(),
        "scaled dot": ScaledDot(),
        "general": General(parameters["general.W"]),
        "cosine": Cosine(),
        "additive": Additive(parameters["additive.W_q"], parameters["additive.W_k"], parameters["additive.v"]),
        "concat": Concat(parameters["concat.W"], parameters["concat.v"]),
        "location": Location(parameters["location.W"]),
    }


def compare(scores: Mapping[str, Score], query: Tensor, key: Tensor) -> dict[str, AttentionTrace]:
    """Return one trace per scoring function for the same query and keys; the keys are their own values.

    Args:
        scores: scoring functions by name.
        query: (n_queries, d).
        key: (n_keys, d).

    Raises:
        ValueError: query and key differ in d.
    """
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query and key need the same d, got {query.shape[-1]} and {key.shape[-1]}")
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


def score_field(score: Score, query: Tensor, *, extent: float, n: int) -> Tensor:
    """Return the score that a key would get at every point of the plane, (n, n).

    A function that does not look at keys gives the score of the first position everywhere.

    Args:
        score: any scoring function of two-dimensional vectors.
        query: (2,).
        extent: the plane runs from -extent to extent in both directions.
        n: points along a side; row 0 is the top (y = extent), column 0 the left (x = -extent).
    """
    if not getattr(score, "looks_at_keys", True):
        return score(query[None], torch.zeros_like(query)[None])[0].expand(n, n)
    ticks = torch.linspace(-extent, extent, n, dtype=query.dtype, device=query.device)
    y, x = torch.meshgrid(ticks.flip(0), ticks, indexing="ij")
    return score(query[None], torch.stack([x, y], -1).reshape(-1, 2))[0].reshape(n, n)


def cosine_matrix(vectors: Tensor) -> Tensor:
    """Return the cosine of every pair of rows, (n, n); 0 where a vector is 0. Source: Graves et al. 2014, eq. 6."""
    return Cosine()(vectors, vectors)


class Parts(NamedTuple):
    """What v^T tanh([q; k]) is made of.

    Attributes:
        query_part: (n_queries,) v_q^T tanh(q): the same for every key.
        key_part: (n_keys,) v_k^T tanh(k): the same for every query.
        scores: (n_queries, n_keys), their sums.
        weights: (n_queries, n_keys) softmax of the scores: every row is alike.
    """

    query_part: Tensor
    key_part: Tensor
    scores: Tensor
    weights: Tensor


def printed_parts(vector: Tensor, query: Tensor, key: Tensor) -> Parts:
    """Take v^T tanh([q; k]) apart, see printed_concat.

    Args:
        vector: (d_q + d_k,), v.
        query: (n_queries, d_q).
        key: (n_keys, d_k).

    Raises:
        ValueError: v does not fit [q; k].
    """
    d_q = query.shape[-1]
    if vector.shape[0] != d_q + key.shape[-1]:
        raise ValueError(f"v needs {d_q + key.shape[-1]} numbers for [q; k], got {vector.shape[0]}")
    query_part, key_part = query.tanh() @ vector[:d_q], key.tanh() @ vector[d_q:]
    scores = query_part[:, None] + key_part[None]
    return Parts(query_part, key_part, scores, scores.softmax(-1))


UNDECIDED = 0.01
"""Weights that differ by less prefer nobody."""


class Favourite(NamedTuple):
    """Which key a scoring function likes best.

    Attributes:
        key: its position; None when all weights lie within 1 % of each other.
        weight: what it gets; ties go to the first.
    """

    key: int | None
    weight: float


def favourites(traces: Mapping[str, AttentionTrace]) -> dict[str, Favourite]:
    """Return each function's favourite key for the first query."""
    chosen = {}
    for name, trace in traces.items():
        weights = trace.weights(0, [0])[0]
        weight, key = weights.max(-1)
        undecided = float(weight - weights.min()) < UNDECIDED
        chosen[name] = Favourite(None if undecided else int(key), float(weight))
    return chosen


def comparison_frame(traces: Mapping[str, AttentionTrace]) -> pd.DataFrame:
    """Return one row per function, query and key: function, query, key, their labels, score, weight."""
    import pandas as pd

    return pd.concat([trace_to_frame(trace).assign(function=name) for name, trace in traces.items()], ignore_index=True)


def nearest_key(query: Tensor, key: Tensor) -> int:
    """Return the position of the key (n_keys, d) at the smallest Euclidean distance from the query (d,)."""
    return int((key - query).square().sum(-1).argmin())
