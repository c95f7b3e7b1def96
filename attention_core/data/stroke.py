"""A stroke of the pen, as a drawing and a link hold it; needs no torch."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

N_HELD_OUT = 750
"""Pen trajectories that are never trained on, the last of the file. The file does not say who wrote which, so that
they are by the same thirty people as the others: figures for strangers are a little lower."""


class Stroke(NamedTuple):
    """One stroke of the pen."""

    path: np.ndarray  # float (n, 2), x and y in canvas pixels
    width: float  # of the pen, canvas pixels
    colour: str | None = None  # of the ink as "#rrggbb", or None for the canvas' own ink


def path_length(strokes: Sequence[Stroke]) -> float:
    """Return how far the pen goes along and down in a drawing, canvas pixels."""
    return float(sum(np.abs(np.diff(stroke.path, axis=0)).sum() for stroke in strokes))
