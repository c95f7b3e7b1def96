"""What a pixel layer has learned: what can be read out of Q, K and V, shares of a score, figures of several seeds.

A token is a position and some ink, added; projections are linear; so a query is q_position + q_ink, a key k_position +
k_ink, and their dot product has four terms. Those of an empty picture are of position alone; the rest is ink.
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
    best: float  # R² of X, read out of the best projection to so many numbers
    ink: float  # share of its own variation that is due to ink; the rest is due to place


def compute_readouts(model: TracedModel, image: Tensor, training_images: Sequence[Tensor]) -> dict[str, Readout]:
    """Return by letter what Q, K and V keep of X in a drawing (28, 28).

    What reads X is ridge regression, fitted on the other drawings.
    """
    blank, drawing, *training = (_vectors(model.trace(i)) for i in (torch.zeros_like(image), image, *training_images))
    tokens, target_tokens = torch.cat([vectors["X"] for vectors in training]), drawing["X"]
    mean = tokens.mean(0)
    directions = torch.linalg.svd(tokens - mean, full_matrices=False).Vh
    readouts = {}
    for letter in "QKV":
        inputs = torch.cat([vectors[letter] for vectors in training])
        width = inputs.shape[1]
        best = directions[:width]
        total, ink = (_centred(vectors) for vectors in (drawing[letter], drawing[letter] - blank[letter]))
        readouts[letter] = Readout(
            width,
            _r2(_ridge(inputs, tokens, drawing[letter]), target_tokens),
            _r2(mean + (target_tokens - mean) @ best.T @ best, target_tokens),
            float((ink * total).sum() / total.square().sum()),
        )
    return readouts


def _vectors(trace: AttentionTrace) -> dict[str, Tensor]:
    vectors = {"X": step_of(trace, "embedding").value(), "Q": trace.query[0], "K": trace.key_of(0)}
    return {letter: tensor.cpu().double() for letter, tensor in (vectors | {"V": trace.value_of(0)}).items()}


def _ridge(inputs: Tensor, targets: Tensor, new_inputs: Tensor) -> Tensor:
    """Fit ridge regression on inputs (n, d) and targets (n, d_x), and predict from new inputs (m, d)."""
    inputs, new_inputs = (F.pad(vectors, (0, 1), value=1.0) for vectors in (inputs, new_inputs))
    gram = inputs.T @ inputs
    penalty = RIDGE * gram.diagonal().mean() * torch.eye(len(gram)).to(gram)
    return new_inputs @ torch.linalg.solve(gram + penalty, inputs.T @ targets)


def _centred(vectors: Tensor) -> Tensor:
    return vectors - vectors.mean(0)


def _r2(predicted: Tensor, targets: Tensor) -> float:
    return float(1 - (predicted - targets).square().sum() / _centred(targets).square().sum())


MAX_INTEGER = np.iinfo(np.int16).max


def quantise_queries_and_keys(trace: AttentionTrace) -> tuple[bytes, float]:
    """Pack the queries and keys of one head whose scores are dot products: 4 d bytes for each position.

    Returns them as int16, little-endian, the queries (n, d) first, and what their products as integers are multiplied
    with to be the scores.
    """
    factor: float = trace.score.dot_factor(trace.key.shape[-1])  # type: ignore[assignment]
    sides = [to_array(side) for side in (trace.query[0], trace.key_of(0))]
    steps = [float(np.abs(side).max()) / MAX_INTEGER or 1.0 for side in sides]
    packed = [np.rint(side / step).astype("<i2").tobytes() for side, step in zip(sides, steps, strict=True)]
    return b"".join(packed), factor * steps[0] * steps[1]


def of_all_seeds(card: Mapping[str, Any], figure: str) -> list[float]:
    """Return a figure of the model itself, then of the same one trained with other seeds, if the card has them."""
    seed_cards = [seed_card for seed_card in card.get("other_seeds", {}).values() if isinstance(seed_card, Mapping)]
    return [seed_card[figure] for seed_card in (card, *seed_cards)]


def figure_range(card: Mapping[str, Any], figure: str) -> str:
    """Return the lowest and the highest of an accuracy's values, such as "98.1% to 98.4%", or the one there is."""
    values = of_all_seeds(card, figure)
    lowest, highest = f"{min(values):.1%}", f"{max(values):.1%}"
    return lowest if lowest == highest else f"{lowest} to {highest}"


def mean_errors(card: Mapping[str, Any], figure: str, n: int) -> float:
    """Return how many of n an accuracy leaves wrong, on average over the seeds."""
    values = of_all_seeds(card, figure)
    return n * (1 - sum(values) / len(values))


POSITION, INK = "place", "ink"
ScoreTerm = tuple[str, str]
SCORE_TERMS: tuple[ScoreTerm, ...] = ((POSITION, POSITION), (POSITION, INK), (INK, POSITION), (INK, INK))
"""What the query comes from, then what the key comes from."""


def split_scores(drawing: AttentionTrace, blank: AttentionTrace) -> dict[ScoreTerm, Tensor]:
    """Return the four parts of a drawing's scores, (n_queries, n_keys) each, that sum to them.

    The traces are those of the drawing and of an empty picture by the same model, whose scores are dot products.
    """
    factor: float = drawing.score.dot_factor(drawing.key.shape[-1])  # type: ignore[assignment]
    position_query, position_key = blank.query[0], blank.key_of(0)
    query = {POSITION: position_query, INK: drawing.query[0] - position_query}
    key = {POSITION: position_key, INK: drawing.key_of(0) - position_key}
    return {term: query[term[0]] @ key[term[1]].T * factor for term in SCORE_TERMS}


def term_shares(terms: Mapping[ScoreTerm, Tensor]) -> dict[ScoreTerm, float]:
    """Return how much of the variation within a row of the scores is due to each part; they sum to 1.

    A part's share is its covariance with the scores, within rows, divided by their variance; it is negative where the
    part works against the others. Where all rows are even every share is 0.
    """
    centred = {term: values - values.mean(1, keepdim=True) for term, values in terms.items()}
    scores = torch.stack(list(centred.values())).sum(0)
    variance = float(scores.square().sum()) or 1.0
    return {term: float((values * scores).sum()) / variance for term, values in centred.items()}


def product_means(trace: AttentionTrace) -> tuple[Tensor, Tensor]:
    """Return the means of Q K^T itself, before scale and softmax, of its columns and of its rows; it is never built."""
    query, key = trace.query[0], trace.key_of(0)
    return key @ query.mean(0), query @ key.mean(0)
