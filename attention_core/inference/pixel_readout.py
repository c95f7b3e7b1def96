"""What a pixel layer has learned: what can be read out of Q, K and V, shares of a score, figures of several seeds.

A token is a place and some ink, added; projections are linear; so a query is q_place + q_ink, a key k_place + k_ink,
and their dot product has four parts. What a model asks of an empty picture is place alone; the rest is ink.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace, TracedModel
from attention_core.device import to_array

RIDGE = 1e-4  # share of the mean square of a number


class Readout(NamedTuple):
    """What one projection keeps of the tokens X of a drawing. Shares are of the variation over pixels."""

    width: int  # numbers in it
    token: float  # R² of X, read out of it
    most: float  # R² of X, read out of the best projection to so many numbers
    ink: float  # share of its own variation that is due to ink; the rest is due to place


def read_back(model: TracedModel, image: Tensor, others: Sequence[Tensor]) -> dict[str, Readout]:
    """Return what Q, K and V keep of X in a drawing (28, 28), by their letters.

    What reads X is ridge regression, fitted on the other drawings.
    """
    blank, drawn, *known = (_vectors(model.trace(one)) for one in (torch.zeros_like(image), image, *others))
    tokens, wanted = torch.cat([one["X"] for one in known]), drawn["X"]
    middle = tokens.mean(0)
    directions = torch.linalg.svd(tokens - middle, full_matrices=False).Vh
    found = {}
    for letter in "QKV":
        inputs = torch.cat([one[letter] for one in known])
        width = inputs.shape[1]
        best = directions[:width]
        whole, ink = (_centred(one) for one in (drawn[letter], drawn[letter] - blank[letter]))
        found[letter] = Readout(
            width,
            _r2(_ridge(inputs, tokens, drawn[letter]), wanted),
            _r2(middle + (wanted - middle) @ best.T @ best, wanted),
            float((ink * whole).sum() / whole.square().sum()),
        )
    return found


def _vectors(trace: AttentionTrace) -> dict[str, Tensor]:
    vectors = {"X": step_of(trace, "embedding").value(), "Q": trace.query[0], "K": trace.key_of(0)}
    return {letter: one.cpu().double() for letter, one in (vectors | {"V": trace.value_of(0)}).items()}


def _ridge(inputs: Tensor, targets: Tensor, asked: Tensor) -> Tensor:
    """Return what ridge regression, fitted on inputs (n, d) and targets (n, d_x), makes of others (m, d)."""
    inputs, asked = (F.pad(one, (0, 1), value=1.0) for one in (inputs, asked))
    gram = inputs.T @ inputs
    penalty = RIDGE * gram.diagonal().mean() * torch.eye(len(gram)).to(gram)
    return asked @ torch.linalg.solve(gram + penalty, inputs.T @ targets)


def _centred(vectors: Tensor) -> Tensor:
    return vectors - vectors.mean(0)


def _r2(predicted: Tensor, wanted: Tensor) -> float:
    return float(1 - (predicted - wanted).square().sum() / _centred(wanted).square().sum())


LARGEST = np.iinfo(np.int16).max


def pack_looks(trace: AttentionTrace) -> tuple[bytes, float]:
    """Pack the queries and keys of one head whose scores are dot products: 4 d bytes for each position.

    Returns them as int16, little-endian, the queries (n, d) first, and what their products as integers are multiplied
    with to be the scores.
    """
    factor: float = trace.score.dot_factor(trace.key.shape[-1])  # type: ignore[assignment]
    sides = [to_array(side) for side in (trace.query[0], trace.key_of(0))]
    steps = [float(np.abs(side).max()) / LARGEST or 1.0 for side in sides]
    whole = [np.rint(side / step).astype("<i2").tobytes() for side, step in zip(sides, steps, strict=True)]
    return b"".join(whole), factor * steps[0] * steps[1]


def of_all_seeds(card: Mapping[str, Any], figure: str) -> list[float]:
    """Return a figure of the model itself, then of the same one trained with other seeds, if the card has them."""
    others = [one for one in card.get("other_seeds", {}).values() if isinstance(one, Mapping)]
    return [one[figure] for one in (card, *others)]


def figure_range(card: Mapping[str, Any], figure: str) -> str:
    """Return the lowest and the highest of an accuracy's values, such as "98.1% to 98.4%", or the one there is."""
    values = of_all_seeds(card, figure)
    lowest, highest = f"{min(values):.1%}", f"{max(values):.1%}"
    return lowest if lowest == highest else f"{lowest} to {highest}"


def mean_errors(card: Mapping[str, Any], figure: str, n: int) -> float:
    """Return how many of n an accuracy leaves wrong, on average over the seeds."""
    values = of_all_seeds(card, figure)
    return n * (1 - sum(values) / len(values))


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
