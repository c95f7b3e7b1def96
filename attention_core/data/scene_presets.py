"""Drawings of several coloured digits to begin with, and random scenes that a number brings back."""

from typing import NamedTuple

import numpy as np

from attention_core.data.colours import PEN
from attention_core.data.sketches import coloured_strokes, digit_strokes
from attention_core.data.stroke import Stroke

HEIGHT = 0.29
"""Of a digit, share of the canvas' side."""
FEWEST, MOST = 3, 6


class Placed(NamedTuple):
    digit: int  # 0 to 9
    colour: str  # name of its ink
    x: float  # of its middle, share of the canvas' side
    y: float  # of its middle, share of the canvas' side, downwards


SCENES = {
    name: tuple(Placed(*digit) for digit in digits)
    for name, digits in {
        "Five colours": (
            (7, "red", 0.19, 0.2),
            (3, "blue", 0.52, 0.22),
            (5, "green", 0.83, 0.42),
            (2, "orange", 0.51, 0.78),
            (8, "purple", 0.83, 0.8),
        ),
        "Four red": (
            (4, "red", 0.2, 0.22),
            (6, "red", 0.52, 0.2),
            (9, "blue", 0.82, 0.5),
            (1, "red", 0.2, 0.75),
            (2, "red", 0.54, 0.78),
        ),
        "Threes": (
            (3, "green", 0.2, 0.24),
            (3, "purple", 0.78, 0.22),
            (3, "black", 0.5, 0.55),
            (0, "green", 0.8, 0.78),
        ),
    }.items()
}
PLACES_OF_MANY = ((0.2, 0.2), (0.8, 0.8), (0.8, 0.2), (0.2, 0.8), (0.5, 0.5), (0.5, 0.17))
"""X and y of up to six digits that stand apart."""


def scene_strokes(scene: tuple[Placed, ...], side: int) -> list[Stroke]:
    """Return the strokes of a preset on a square canvas of `side` pixels."""
    return [
        stroke
        for digit, colour, x, y in scene
        for stroke in digit_strokes(digit, (x * side, y * side), HEIGHT * side, colour=PEN[colour])
    ]


def random_scene(number: int, side: int) -> list[Stroke]:
    """Return three to six digits in up to three colours; the same number gives the same scene."""
    rng = np.random.default_rng(number)
    return coloured_strokes(int(rng.integers(FEWEST, MOST + 1)), side, rng)
