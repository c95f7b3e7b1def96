"""A map of scores as a weighted sum of feature channels: what a 1 x 1 convolution adds up, and which ones decide."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.edits import Edits
from attention_core.attention.scores import format_latex
from attention_core.attention.trace import AttentionTrace
from attention_core.device import to_array
from attention_core.models.feature_mask import FeatureMask

WRITTEN = 3  # products written out in a region's dot product


def pulls(trace: AttentionTrace) -> Tensor:
    """Return how much each channel moves the map, its weight times its spread over the regions, (n_channels,).

    It is positive where the channel lifts the score of the regions that have it. A channel that is the same everywhere
    moves nothing: softmax ignores what is added to every score alike.
    """
    return trace.query[0, 0] * trace.key[0].std(0, correction=0)


def order_of(trace: AttentionTrace) -> list[int]:
    """Return the channels' numbers, the one that moves the map most first."""
    return pulls(trace).abs().argsort(descending=True, stable=True).tolist()


def score_formula(trace: AttentionTrace, region: int) -> str:
    """Return LaTeX that computes a region's score from its largest products and the sum of the others."""
    query, key = trace.query[0, 0], trace.key[0, region]
    products = query * key
    largest = products.abs().argsort(descending=True, stable=True)[:WRITTEN]
    score, left = float(products.sum()), float(products.sum() - products[largest].sum())
    products_text = [
        f"{_sign(weight, index == 0)} {format_latex(abs(weight))} \\cdot {format_latex(feature)}"
        for index, (weight, feature) in enumerate(torch.stack((query, key), 1)[largest].tolist())
    ]
    remainder_text = rf"\underbrace{{{format_latex(abs(left))}}}_{{\text{{the other {len(key) - WRITTEN}}}}}"
    remainder = rf"{_sign(left, False)} {remainder_text}"
    lines = rf"S_{{{region + 1}}} &= {' '.join(products_text)} \\ &\quad {remainder} = {format_latex(score)}"
    return rf"\begin{{aligned}} {lines} \end{{aligned}}"


def _sign(value: float, first: bool) -> str:
    return "-" if value < 0 else "" if first else "+"


def try_edits(model: FeatureMask, picture: np.ndarray, edits: Sequence[Edits]) -> tuple[np.ndarray, np.ndarray]:
    """Return, of each edit, the mask (rows, columns) and the ten probabilities, for a picture (60, 60)."""
    trace = model.trace(picture)
    masks = torch.stack([trace.replace(edit).weights()[0].reshape(model.grid) for edit in edits])
    return to_array(masks), to_array(torch.stack([model.answer(trace, edit) for edit in edits]))
