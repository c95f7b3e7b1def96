"""The softmax of one row in its three steps: exponentials, their sum, the division."""

from typing import NamedTuple

import numpy as np

from attention_core.topics.vectors.cells import LARGEST_EXPONENT


class SoftmaxParts(NamedTuple):
    """One row on its way to shares."""

    scores: np.ndarray  # float (n,), with the constant added; -inf = may not be seen
    lowered: float  # what was taken off every score before the exponential, 0 unless they are too large for it
    exponentials: np.ndarray  # float (n,), exp(scores - lowered)
    total: float  # their sum
    shares: np.ndarray  # float (n,), exponentials / total; zeros when no key may be seen


def softmax_parts(scores: np.ndarray, constant: float = 0.0) -> SoftmaxParts:
    """Take a row of masked scores through the softmax.

    Args:
        scores: float (n,), -inf = may not be seen.
        constant: added to every score first; the shares do not change.
    """
    moved = np.asarray(scores, dtype=np.float64) + constant
    seen = np.isfinite(moved)
    if not seen.any():
        return SoftmaxParts(moved, 0.0, np.zeros_like(moved), 0.0, np.zeros_like(moved))
    lowered = float(moved.max()) if np.abs(moved[seen]).max() > LARGEST_EXPONENT else 0.0
    exponentials = np.exp(moved - lowered)
    total = float(exponentials.sum())
    return SoftmaxParts(moved, lowered, exponentials, total, exponentials / total)
