"""What Q and K say: every score of a drawing split exactly by place and ink of the pixel that asks and the one asked.

A token is a place and some ink, added; projections are linear; so a query is q_place + q_ink, a key k_place + k_ink,
and their dot product has four parts. What a model asks of an empty picture is place alone; the rest is ink.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace

PLACE, INK = "place", "ink"
Part = tuple[str, str]
PARTS: tuple[Part, ...] = ((PLACE, PLACE), (PLACE, INK), (INK, PLACE), (INK, INK))
"""What asks, then what is asked."""


class Means(NamedTuple):
    column: Tensor  # (n_keys,) mean of each column, over the queries: is paid attention to
    row: Tensor  # (n_queries,) mean of each row, over the keys: pays attention


@dataclass(frozen=True, eq=False)
class SplitScores:
    """The four parts of the scores of one head."""

    query: dict[str, Tensor]  # by what asks, (n_queries, d_k) each
    key: dict[str, Tensor]  # by what is asked, (n_keys, d_k) each
    factor: float  # by which dot products are multiplied to give scores

    def scores(self, part: Part) -> Tensor:
        """Return one part of the scores, (n_queries, n_keys)."""
        asks, asked = part
        return self.query[asks] @ self.key[asked].T * self.factor

    def shares(self) -> dict[Part, float]:
        """Return how much of the variation within a row of the scores is due to each part; they sum to 1.

        A part's share is its covariance with the scores, within rows, divided by their variance; it is negative where
        the part works against the others. Where all rows are even every share is 0.
        """
        scores = {part: self.scores(part) for part in PARTS}
        within = {part: own - own.mean(1, keepdim=True) for part, own in scores.items()}
        whole = torch.stack(list(within.values())).sum(0)
        variance = float(whole.square().sum())
        return {part: float((own * whole).sum()) / variance if variance else 0.0 for part, own in within.items()}


def split_scores(drawn: AttentionTrace, blank: AttentionTrace) -> SplitScores:
    """Split the scores of a drawing, given the traces of the drawing and of an empty picture by the same model.

    Raises:
        ValueError: traces of other sizes, or scores that are no dot products.
    """
    factor = drawn.score.dot_factor(drawn.key.shape[-1])
    if factor is None or drawn.query.shape != blank.query.shape or drawn.key.shape != blank.key.shape:
        raise ValueError("scores are split between dot products over a drawing and over an empty picture of its size")
    place_q, place_k = blank.query[0], blank.key_of(0)
    ink_q, ink_k = drawn.query[0] - place_q, drawn.key_of(0) - place_k
    return SplitScores({PLACE: place_q, INK: ink_q}, {PLACE: place_k, INK: ink_k}, factor)


def product_means(trace: AttentionTrace) -> Means:
    """Return the averages of Q K^T itself, before scale and softmax, without ever building it."""
    query, key = trace.query[0], trace.key_of(0)
    return Means(key @ query.mean(0), query @ key.mean(0))
