"""Predict, then see: where the largest number of a row may be, and what a guess was worth."""

from dataclasses import dataclass

import numpy as np

from attention_core.attention.types import Step
from attention_core.device import to_array


@dataclass(frozen=True)
class Comparison:
    """A guessed cell beside the largest one of its row.

    Attributes:
        value: the number at the guess.
        best: the column of the largest number.
        largest: that number.
        rank: how many numbers of the row are larger than the one at the guess.
    """

    value: float
    best: int
    largest: float
    rank: int


def options(step: Step, head: int, row: int) -> list[int]:
    """Return up to three columns to guess among, in order: the largest number's, a middling one's, the smallest one's.

    Args:
        step: of a trace.
        head: which head, from 0.
        row: of the step's matrix.

    Returns:
        No column where there is nothing to guess: fewer than two different numbers.
    """
    values = _row(step, head, row)
    order = np.argsort(-values, kind="stable")[: int(np.isfinite(values).sum())]
    if len(order) < 2 or values[order[0]] == values[order[-1]]:
        return []
    return sorted({int(order[place]) for place in (0, len(order) // 2, -1)})


def compare(step: Step, head: int, row: int, column: int) -> Comparison:
    """Return what a guess was worth: the number there beside the largest of its row."""
    values = _row(step, head, row)
    best = int(np.argmax(values))
    return Comparison(float(values[column]), best, float(values[best]), int((values > values[column]).sum()))


def _row(step: Step, head: int, row: int) -> np.ndarray:
    """Return a row's numbers; what is masked counts as minus infinity."""
    values = to_array(step.value(head, [row]).float())[0]
    return np.where(np.isnan(values), -np.inf, values)
