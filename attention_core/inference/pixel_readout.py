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

RIDGE = 1e-4  # penalty of the ridge regression, a share of the mean diagonal entry of the inputs' Gram matrix


class Readout(NamedTuple):
    """What one projection, Q, K or V, keeps of the tokens X of a drawing. Shares are of the variation over pixels."""

    width: int  # dimensions of the projection
    token: float  # R² of X, read out of the projection
    best: float  # R² of X, read out of the best projection to that width
    ink: float  # share of the projection's variation that is due to ink; the rest is due to position


def compute_readouts(model: TracedModel, image: Tensor, training_images: Sequence[Tensor]) -> dict[str, Readout]:
    """Return what Q, K and V keep of X in a drawing (28, 28), by letter.

    X is read out by ridge regression, fitted on the training images.
    """
    images = torch.zeros_like(image), image, *training_images
    blank, drawing, *training = (_vectors_by_letter(model.trace(each)) for each in images)
    tokens, target_tokens = torch.cat([vectors["X"] for vectors in training]), drawing["X"]
    mean = tokens.mean(0)
    directions = torch.linalg.svd(tokens - mean, full_matrices=False).Vh
    readouts = {}
    for letter in "QKV":
        inputs = torch.cat([vectors[letter] for vectors in training])
        width = inputs.shape[1]
        best_directions = directions[:width]
        total, ink = (_centred(vectors) for vectors in (drawing[letter], drawing[letter] - blank[letter]))
        readouts[letter] = Readout(
            width,
            _r2(_ridge(inputs, tokens, drawing[letter]), target_tokens),
            _r2(mean + (target_tokens - mean) @ best_directions.T @ best_directions, target_tokens),
            float((ink * total).sum() / total.square().sum()),
        )
    return readouts


def _vectors_by_letter(trace: AttentionTrace) -> dict[str, Tensor]:
    tokens = step_of(trace, "embedding").value()
    vectors = {"X": tokens, "Q": trace.query[0], "K": trace.key_of(0), "V": trace.value_of(0)}
    return {letter: tensor.cpu().double() for letter, tensor in vectors.items()}


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

    Returns them as int16, little-endian, the queries (n, d) first, and the factor between the products of these
    integers and the scores.
    """
    factor: float = trace.score.dot_factor(trace.key.shape[-1])  # type: ignore[assignment]
    matrices = [to_array(vectors) for vectors in (trace.query[0], trace.key_of(0))]
    units = [float(np.abs(matrix).max()) / MAX_INTEGER or 1.0 for matrix in matrices]  # the value of the integer 1
    packed = [np.rint(matrix / unit).astype("<i2").tobytes() for matrix, unit in zip(matrices, units, strict=True)]
    return b"".join(packed), factor * units[0] * units[1]


def figures_by_seed(card: Mapping[str, Any], figure: str) -> list[float]:
    """Return a figure of the model itself, then of the model trained with other seeds, if the card has them."""
    seed_cards = [seed_card for seed_card in card.get("other_seeds", {}).values() if isinstance(seed_card, Mapping)]
    return [seed_card[figure] for seed_card in (card, *seed_cards)]


def figure_range(card: Mapping[str, Any], figure: str) -> str:
    """Return the range of an accuracy over the seeds, such as "98.1% to 98.4%", or one value if they are equal."""
    values = figures_by_seed(card, figure)
    lowest, highest = f"{min(values):.1%}", f"{max(values):.1%}"
    return lowest if lowest == highest else f"{lowest} to {highest}"


def mean_errors(card: Mapping[str, Any], figure: str, n: int) -> float:
    """Return how many of n answers are wrong at an accuracy, on average over the seeds."""
    values = figures_by_seed(card, figure)
    return n * (1 - sum(values) / len(values))


POSITION, INK = "place", "ink"
ScoreTerm = tuple[str, str]
SCORE_TERMS: tuple[ScoreTerm, ...] = ((POSITION, POSITION), (POSITION, INK), (INK, POSITION), (INK, INK))
"""The source of the query, then that of the key."""


def split_scores(drawing: AttentionTrace, blank: AttentionTrace) -> dict[ScoreTerm, Tensor]:
    """Return the four terms of a drawing's scores, (n_queries, n_keys) each; the scores are their sum.

    The traces are those of the drawing and of an empty picture by the same model, whose scores are dot products.
    """
    factor: float = drawing.score.dot_factor(drawing.key.shape[-1])  # type: ignore[assignment]
    position_query, position_key = blank.query[0], blank.key_of(0)
    query = {POSITION: position_query, INK: drawing.query[0] - position_query}
    key = {POSITION: position_key, INK: drawing.key_of(0) - position_key}
    return {term: query[term[0]] @ key[term[1]].T * factor for term in SCORE_TERMS}


def term_shares(terms: Mapping[ScoreTerm, Tensor]) -> dict[ScoreTerm, float]:
    """Return how much of the variation within rows of the scores is due to each term; the shares sum to 1.

    A term's share is its covariance with the scores, within rows, divided by their variance; it is negative where the
    term works against the others. Where each row's scores are equal, all shares are 0.
    """
    centred = {term: values - values.mean(1, keepdim=True) for term, values in terms.items()}
    scores = torch.stack(list(centred.values())).sum(0)
    variance = float(scores.square().sum()) or 1.0
    return {term: float((values * scores).sum()) / variance for term, values in centred.items()}


def product_means(trace: AttentionTrace) -> tuple[Tensor, Tensor]:
    """Return the means of the columns and of the rows of Q K^T, before scale and softmax, without computing it."""
    query, key = trace.query[0], trace.key_of(0)
    return key @ query.mean(0), query @ key.mean(0)


def ink_taken(trace: AttentionTrace, is_ink: Tensor) -> Tensor:
    """Return the share of each pixel's weights that is of ink, (n_queries,); is_ink is bool, (n_keys,)."""
    return torch.cat([weights @ is_ink.to(weights) for _, _, weights in trace.blocks(0)])
