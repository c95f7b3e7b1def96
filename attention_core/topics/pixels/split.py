"""What Q and K say: every score of a drawing split exactly by place and ink of the pixel that asks and the one asked.

A token is a place and some ink, added; projections are linear; so a query is q_place + q_ink, a key k_place + k_ink,
and their dot product has four parts. What a model asks of an empty picture is place alone; the rest is ink.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace

PLACE, INK = "place", "ink"
Part = tuple[str, str]
PARTS: tuple[Part, ...] = ((PLACE, PLACE), (PLACE, INK), (INK, PLACE), (INK, INK))
"""What asks, then what is asked."""


def score_parts(drawn: AttentionTrace, blank: AttentionTrace) -> dict[Part, Tensor]:
    """Return the four parts of a drawing's scores, (n_queries, n_keys) each, that sum to them.

    The traces are those of the drawing and of an empty picture by the same model, whose scores are dot products.
    """
    factor: float = drawn.score.dot_factor(drawn.key.shape[-1])  # type: ignore[assignment]
    place_q, place_k = blank.query[0], blank.key_of(0)
    query = {PLACE: place_q, INK: drawn.query[0] - place_q}
    key = {PLACE: place_k, INK: drawn.key_of(0) - place_k}
    return {(asks, asked): query[asks] @ key[asked].T * factor for asks, asked in PARTS}


def shares_of(parts: Mapping[Part, Tensor]) -> dict[Part, float]:
    """Return how much of the variation within a row of the scores is due to each part; they sum to 1.

    A part's share is its covariance with the scores, within rows, divided by their variance; it is negative where the
    part works against the others. Where all rows are even every share is 0.
    """
    within = {part: own - own.mean(1, keepdim=True) for part, own in parts.items()}
    whole = torch.stack(list(within.values())).sum(0)
    variance = float(whole.square().sum())
    return {part: float((own * whole).sum()) / variance if variance else 0.0 for part, own in within.items()}


def product_means(trace: AttentionTrace) -> tuple[Tensor, Tensor]:
    """Return the means of Q K^T itself, before scale and softmax, of its columns and of its rows; it is never built."""
    query, key = trace.query[0], trace.key_of(0)
    return key @ query.mean(0), query @ key.mean(0)
