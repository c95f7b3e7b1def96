"""Drawings of our own making, as pen strokes on a canvas: digits, numbers, clutter, coloured scenes, presets."""

import math
from typing import NamedTuple

import numpy as np

from attention_core.data.colours import COLOURS, PEN
from attention_core.data.presets import STROKES
from attention_core.data.stroke import Stroke
from attention_core.data.strokes import smooth_path

CLUTTER_WIDTH = 9.5
"""Canvas pixels; the pen of clutter, by which its strokes are known again."""
HEIGHT = 0.29
"""Of a digit, share of the canvas' side."""
FEWEST, MOST = 3, 6
SCENE_COLOURS = ("red", "orange", "green", "blue", "purple", "black")


class PlacedDigit(NamedTuple):
    digit: int  # 0 to 9
    colour: str  # name of its ink
    x: float  # of its middle, share of the canvas' side
    y: float  # of its middle, share of the canvas' side, downwards


SCENES = {
    name: tuple(PlacedDigit(*digit) for digit in digits)
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


def digit_strokes(
    digit: int,
    middle: tuple[float, float],
    height: float,
    *,
    width: float | None = None,
    colour: str | None = None,
    rng: np.random.Generator | None = None,
) -> list[Stroke]:
    """Return the strokes of a digit whose ink, with the pen's width, is `height` canvas pixels high around its middle.

    The pen is a tenth of the height wide if not told; a generator slants, narrows and shakes the digit at random.
    """
    width = height * 0.11 if width is None else width
    paths = [smooth_path(np.array(stroke), 4) for stroke in STROKES[digit]]
    if rng is not None:
        turn = rng.normal(0, 0.08)
        shear = np.array([[1, 0], [rng.normal(0, 0.12), 1]]) @ [
            [math.cos(turn), -math.sin(turn)],
            [math.sin(turn), math.cos(turn)],
        ]
        narrow = np.array([rng.uniform(0.85, 1.15), 1])
        paths = [(path - 0.5) @ shear * narrow + rng.normal(0, 0.006, path.shape) for path in paths]
    every = np.concatenate(paths)
    low, high = every.min(0), every.max(0)
    scale = (height - width) / max(float(high[1] - low[1]), 1e-6)
    return [Stroke((path - (low + high) / 2) * scale + middle, width, colour) for path in paths]


def number_strokes(number: str, size: tuple[int, int], rng: np.random.Generator | None = None) -> list[Stroke]:
    """Return a number written across a canvas (height, width); a generator varies places, sizes and shapes."""
    height, width = size
    step = min(0.55 * height, 0.9 * width / len(number))
    tall = min(0.56 * height, 1.25 * step)
    left = (width - step * (len(number) - 1)) / 2
    strokes = []
    for place, digit in enumerate(number):
        shift = rng.normal(0, 0.02 * height) if rng is not None else 0.0
        grown = tall * (math.exp(rng.normal(0, 0.06)) if rng is not None else 1.0)
        strokes += digit_strokes(int(digit), (left + step * place, height / 2 + shift), grown, rng=rng)
    return strokes


def clutter_strokes(n: int, side: int, rng: np.random.Generator) -> list[Stroke]:
    """Return n bits of digits, strewn over a square canvas of `side` pixels."""
    strokes = []
    for _ in range(n):
        paths = [smooth_path(np.array(stroke), 4) * 0.36 * side for stroke in STROKES[int(rng.integers(10))]]
        path = paths[int(rng.integers(len(paths)))]
        length = min(len(path), int(rng.integers(8, 22)))
        first = int(rng.integers(len(path) - length + 1))
        bit = path[first : first + length]
        bit = bit - (bit.min(0) + bit.max(0)) / 2
        bit = bit * min(1.0, 0.12 * side / max(float(np.ptp(bit, axis=0).max()), 1e-6))
        strokes.append(Stroke(bit + rng.uniform(0.06, 0.94, 2) * side, CLUTTER_WIDTH))
    return strokes


def hidden_digit(
    digit: int, middle: tuple[float, float], height: float, side: int, rng: np.random.Generator, n_pieces: int = 12
) -> list[Stroke]:
    """Return a digit among n_pieces of clutter, or as many as there is room for, that do not touch it."""
    strokes = digit_strokes(digit, middle, height)
    ink = np.concatenate([stroke.path for stroke in strokes])
    apart = 0.02 * side + strokes[0].width / 2 + CLUTTER_WIDTH / 2
    pieces = [
        stroke
        for stroke in clutter_strokes(3 * n_pieces, side, rng)
        if np.linalg.norm(stroke.path[:, None] - ink[None], axis=-1).min() > apart
    ]
    return [*pieces[:n_pieces], *strokes]


def coloured_strokes(n: int, side: int, rng: np.random.Generator) -> list[Stroke]:
    """Return n digits, 1 to 6, in several colours, apart from each other, on a square canvas of `side` pixels."""
    colours = rng.choice([name for name in SCENE_COLOURS if name in COLOURS], size=min(3, n), replace=False)
    cells = [(row, column) for row in range(3) for column in range(3)]
    strokes: list[Stroke] = []
    for place in rng.permutation(len(cells))[:n]:
        row, column = cells[place]
        middle = (np.array([column, row]) + 0.5 + rng.uniform(-0.08, 0.08, 2)) * side / 3
        height = side * rng.uniform(0.255, 0.3)
        ink = PEN[str(rng.choice(colours))]
        strokes += digit_strokes(
            int(rng.integers(10)), (float(middle[0]), float(middle[1])), height, colour=ink, rng=rng
        )
    return strokes


def scene_strokes(scene: tuple[PlacedDigit, ...], side: int) -> list[Stroke]:
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
