"""Does V stay close to X? How much of a pixel's token can be read, linearly, out of its query, its key, its value."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace, TracedModel

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
