"""One stroke of a pen; a module of its own, for those who need nothing heavier."""

from typing import NamedTuple

import numpy as np


class Stroke(NamedTuple):
    """One stroke of the pen."""

    path: np.ndarray  # float (n, 2), x and y in canvas pixels
    width: float  # of the pen, canvas pixels
    colour: str | None = None  # of the ink as "#rrggbb", or None for the canvas' own ink
