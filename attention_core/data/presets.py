"""Drawings of our own making, as pen strokes: digits, numbers, clutter, coloured scenes."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from attention_core.data.colours import COLOURS, PEN
from attention_core.data.drawing import Stroke, draw_paths, smooth_path


def _arc(
    cx: float, cy: float, rx: float, ry: float, start: float, stop: float, n: int = 14
) -> list[tuple[float, float]]:
    """Return points on an ellipse; degrees, 0 = right, 90 = down."""
    angles = [math.radians(start + (stop - start) * i / (n - 1)) for i in range(n)]
    return [(cx + rx * math.cos(a), cy + ry * math.sin(a)) for a in angles]


STROKES: dict[int, list[list[tuple[float, float]]]] = {
    0: [_arc(0.5, 0.5, 0.2, 0.31, -80, 285, 24)],
    1: [[(0.42, 0.3), (0.48, 0.25), (0.53, 0.18), (0.525, 0.4), (0.515, 0.6), (0.51, 0.82)]],
    2: [
        [*_arc(0.49, 0.36, 0.18, 0.17, -170, 20, 9), (0.58, 0.54), (0.45, 0.68), (0.32, 0.8)],
        [(0.32, 0.8), (0.5, 0.79), (0.71, 0.79)],
    ],
    3: [
        [*_arc(0.48, 0.34, 0.17, 0.15, -150, 80, 10), (0.46, 0.49)],
        [(0.46, 0.49), *_arc(0.48, 0.655, 0.2, 0.17, -80, 150, 11)],
    ],
    4: [
        [(0.56, 0.17), (0.44, 0.36), (0.3, 0.58)],
        [(0.3, 0.58), (0.5, 0.58), (0.74, 0.57)],
        [(0.61, 0.36), (0.6, 0.6), (0.59, 0.84)],
    ],
    5: [
        [(0.37, 0.2), (0.36, 0.33), (0.35, 0.46), *_arc(0.46, 0.62, 0.2, 0.19, -110, 140, 12)],
        [(0.37, 0.2), (0.52, 0.2), (0.68, 0.19)],
    ],
    6: [[(0.6, 0.17), (0.47, 0.27), (0.38, 0.42), (0.34, 0.58), *_arc(0.5, 0.64, 0.165, 0.17, 165, -175, 14)]],
    7: [[(0.3, 0.21), (0.5, 0.2), (0.7, 0.2)], [(0.7, 0.2), (0.6, 0.38), (0.51, 0.58), (0.45, 0.83)]],
    8: [[*_arc(0.5, 0.34, 0.15, 0.15, 60, -240, 12), *_arc(0.5, 0.66, 0.18, 0.17, -60, 240, 14)]],
    9: [[*_arc(0.48, 0.36, 0.165, 0.165, -20, -345, 16)], [(0.645, 0.3), (0.64, 0.5), (0.6, 0.68), (0.54, 0.83)]],
}
"""Digit -> strokes, each a list of (x, y) in [0, 1], y downwards."""


def preset_canvas(digit: int, side: int = 256) -> np.ndarray:
    """Return a preset as the page's canvas would send it, uint8 (side, side, 4) RGBA."""
    return draw_paths(preset_paths(digit, side), side, 20)


def preset_paths(digit: int, side: int) -> list[np.ndarray]:
    """Return a preset's strokes as smooth paths in canvas pixels, each (n, 2)."""
    return [smooth_path(np.array(stroke), 4) * side for stroke in STROKES[digit]]


CLUTTER_WIDTH = 9.5
"""Canvas pixels; the pen of clutter, by which its strokes are known again."""
HEIGHT = 0.29
"""Of a digit, share of the canvas' side."""
MIN_DIGITS, MAX_DIGITS = 3, 6
N_HIDING, TRIES = 20, 24  # pieces of clutter around a hidden digit; tries for each to find a place of its own
SCENE_COLOURS = ("red", "orange", "green", "blue", "purple", "black")


class PlacedDigit(NamedTuple):
    digit: int  # 0 to 9
    colour: str  # name of its ink
    x: float  # of its middle, share of the canvas' side
    y: float  # of its middle, share of the canvas' side, downwards


SCENES = {
    name: tuple(
        PlacedDigit(int(digit), colour, float(x), float(y)) for digit, colour, x, y in map(str.split, digits.split(";"))
    )
    for name, digits in {
        "Five colours": "7 red 0.19 0.2; 3 blue 0.52 0.22; 5 green 0.83 0.42; 2 orange 0.51 0.78; 8 purple 0.83 0.8",
        "Four red": "4 red 0.2 0.22; 6 red 0.52 0.2; 9 blue 0.82 0.5; 1 red 0.2 0.75; 2 red 0.54 0.78",
        "Threes": "3 green 0.2 0.24; 3 purple 0.78 0.22; 3 black 0.5 0.55; 0 green 0.8 0.78",
    }.items()
}


def digit_strokes(
    digit: int,
    middle: tuple[float, float],
    height: float,
    *,
    colour: str | None = None,
    rng: np.random.Generator | None = None,
) -> list[Stroke]:
    """Return the strokes of a digit whose ink, with the pen's width, is `height` canvas pixels high around its middle.

    The pen is a tenth of the height wide; a generator slants, narrows and shakes the digit at random.
    """
    width = height * 0.11
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
    for index, digit in enumerate(number):
        shift = rng.normal(0, 0.02 * height) if rng is not None else 0.0
        grown = tall * (math.exp(rng.normal(0, 0.06)) if rng is not None else 1.0)
        strokes += digit_strokes(int(digit), (left + step * index, height / 2 + shift), grown, rng=rng)
    return strokes


def clutter_strokes(n: int, side: int, rng: np.random.Generator) -> list[Stroke]:
    """Return n bits of digits, none more than half a stroke, strewn over a square canvas of `side` pixels."""
    strokes = []
    for _ in range(n):
        paths = [smooth_path(np.array(stroke), 4) * 0.36 * side for stroke in STROKES[int(rng.integers(10))]]
        path = paths[int(rng.integers(len(paths)))]
        length = min(len(path) // 2, int(rng.integers(8, 22)))
        first = int(rng.integers(len(path) - length + 1))
        bit = path[first : first + length]
        bit = bit - (bit.min(0) + bit.max(0)) / 2
        bit = bit * min(1.0, 0.12 * side / max(float(np.ptp(bit, axis=0).max()), 1e-6))
        strokes.append(Stroke(bit + rng.uniform(0.06, 0.94, 2) * side, CLUTTER_WIDTH))
    return strokes


def clutter_between(strokes: Sequence[Stroke], n: int, side: int, rng: np.random.Generator) -> list[Stroke]:
    """Return n pieces of clutter, or as many as room is found for, that touch neither what is drawn nor each other."""
    pieces: list[Stroke] = []
    for _ in range(TRIES * n):
        piece = clutter_strokes(1, side, rng)[0]
        if all(_gap(piece, stroke) > 0.03 * side for stroke in (*strokes, *pieces)):
            pieces.append(piece)
        if len(pieces) == n:
            break
    return pieces


def _gap(first: Stroke, second: Stroke) -> float:
    """Return the canvas pixels between the inks of two strokes."""
    between = np.linalg.norm(first.path[:, None] - second.path[None], axis=-1).min()
    return float(between) - (first.width + second.width) / 2


def hidden_digit(
    digit: int, middle: tuple[float, float], height: float, side: int, rng: np.random.Generator
) -> list[Stroke]:
    """Return a digit among N_HIDING pieces of clutter."""
    strokes = digit_strokes(digit, middle, height)
    return [*clutter_between(strokes, N_HIDING, side, rng), *strokes]


def coloured_digits(n: int, side: int, rng: np.random.Generator) -> Iterator[tuple[PlacedDigit, list[Stroke]]]:
    """Yield n digits, 1 to 6, in several colours, apart from each other, on a square canvas of `side` pixels."""
    colours = rng.choice([name for name in SCENE_COLOURS if name in COLOURS], size=min(3, n), replace=False)
    cells = [(row, column) for row in range(3) for column in range(3)]
    for index in rng.permutation(len(cells))[:n]:
        row, column = cells[index]
        x, y = ((np.array([column, row]) + 0.5 + rng.uniform(-0.08, 0.08, 2)) / 3).tolist()
        height, colour, digit = side * rng.uniform(0.255, 0.3), str(rng.choice(colours)), int(rng.integers(10))
        strokes = digit_strokes(digit, (x * side, y * side), height, colour=PEN[colour], rng=rng)
        yield PlacedDigit(digit, colour, x, y), strokes


def scene_strokes(scene: tuple[PlacedDigit, ...], side: int) -> list[Stroke]:
    """Return the strokes of a preset on a square canvas of `side` pixels."""
    return [
        stroke
        for digit, colour, x, y in scene
        for stroke in digit_strokes(digit, (x * side, y * side), HEIGHT * side, colour=PEN[colour])
    ]


def random_scene(number: int, side: int) -> list[Stroke]:
    """Return three to six digits in up to three colours; the same number gives the same scene."""
    return [stroke for _, strokes in _random_digits(number, side) for stroke in strokes]


def random_digits(number: int, side: int) -> tuple[PlacedDigit, ...]:
    """Return the digits of a random scene, in the order of their strokes."""
    return tuple(placed for placed, _ in _random_digits(number, side))


def _random_digits(number: int, side: int) -> Iterator[tuple[PlacedDigit, list[Stroke]]]:
    rng = np.random.default_rng(number)
    return coloured_digits(int(rng.integers(MIN_DIGITS, MAX_DIGITS + 1)), side, rng)
