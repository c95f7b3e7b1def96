"""Ten digits of our own making, as pen strokes, for people who cannot draw."""

import math

import numpy as np

from attention_core.data.strokes import draw_paths, smooth_path


def _arc(
    cx: float, cy: float, rx: float, ry: float, start: float, end: float, n: int = 14
) -> list[tuple[float, float]]:
    """Return points on an ellipse; degrees, 0 = right, 90 = down."""
    angles = [math.radians(start + (end - start) * i / (n - 1)) for i in range(n)]
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
    8: [[*_arc(0.5, 0.34, 0.15, 0.15, 60, -240, 12)[::1], *_arc(0.5, 0.66, 0.18, 0.17, -60, 240, 14)]],
    9: [[*_arc(0.48, 0.36, 0.165, 0.165, -20, -345, 16)], [(0.645, 0.3), (0.64, 0.5), (0.6, 0.68), (0.54, 0.83)]],
}
"""Digit -> strokes, each a list of (x, y) in [0, 1], y downwards."""


def preset_canvas(digit: int, side: int = 256) -> np.ndarray:
    """Return a preset as the page's canvas would send it, uint8 (side, side, 4) RGBA."""
    return draw_paths(preset_paths(digit, side), side, 20)


def preset_paths(digit: int, side: int) -> list[np.ndarray]:
    """Return a preset's strokes as smooth paths in canvas pixels, each (n, 2)."""
    return [smooth_path(np.array(stroke), 4) * side for stroke in STROKES[digit]]
