"""Which strokes of a coloured drawing belong together to one digit, and where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attention_core.data.colours import name_of, nearest_names, rgb_of
from attention_core.data.sketches import Stroke

TOUCHING = 0.02
"""Share of the canvas' side: strokes of one ink whose edges are nearer than this make one digit."""
MOST_POINTS = 120
"""Of a stroke that are looked at."""


@dataclass(frozen=True)
class DrawnDigit:
    """Strokes of one ink that touch each other."""

    strokes: tuple[int, ...]  # their places in the drawing, ascending
    ink: str  # "#rrggbb"
    colour: str  # what people call the ink, or the name whose pen is nearest to it
    box: tuple[float, float, float, float]  # (top, left, bottom, right) of the ink in shares of the canvas' side

    @property
    def middle(self) -> tuple[float, float]:
        """X and y of the box's middle, shares of the canvas' side."""
        top, left, bottom, right = self.box
        return (left + right) / 2, (top + bottom) / 2

    @property
    def place(self) -> str:
        """Where it stands in words, such as "top left" or "middle"."""
        x, y = self.middle
        vertical = "top" if y < 0.36 else "bottom" if y > 0.64 else ""
        horizontal = "left" if x < 0.36 else "right" if x > 0.64 else ""
        return f"{vertical} {horizontal}".strip() or "middle"


def drawn_digits(strokes: Sequence[Stroke], side: int, paper: str) -> list[DrawnDigit]:
    """Group the strokes of a drawing into digits, in the order of their first strokes.

    Args:
        strokes: of the drawing; one without a colour is in the canvas' own ink.
        side: of the square canvas, pixels.
        paper: colour of the paper, "#rrggbb"; strokes of that colour erase and are no digit.
    """
    inked = [place for place, one in enumerate(strokes) if (one.colour or "").lower() != paper.lower()]
    groups: list[list[int]] = []
    for place in inked:
        near = [group for group in groups if any(_touch(strokes[place], strokes[other], side) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append(sorted([place, *(one for group in near for one in group)]))
    return [_digit(sorted(group), strokes, side) for group in sorted(groups)]


def overlapping(digits: Sequence[DrawnDigit]) -> bool:
    """Say whether the boxes of two digits lie over each other by more than a third of the smaller one."""
    boxes = [one.box for one in digits]
    return any(_shared(one, other) > 1 / 3 for place, one in enumerate(boxes) for other in boxes[:place])


def _shared(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> float:
    height = min(one[2], other[2]) - max(one[0], other[0])
    width = min(one[3], other[3]) - max(one[1], other[1])
    smaller = min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return max(height, 0.0) * max(width, 0.0) / max(smaller, 1e-9)


def _touch(one: Stroke, other: Stroke, side: int) -> bool:
    if (one.colour or "").lower() != (other.colour or "").lower():
        return False
    first, second = (stroke.path[:: max(1, len(stroke.path) // MOST_POINTS)] for stroke in (one, other))
    distance = float(np.linalg.norm(first[:, None] - second[None], axis=-1).min())
    return distance < (one.width + other.width) / 2 + TOUCHING * side


def _digit(group: list[int], strokes: Sequence[Stroke], side: int) -> DrawnDigit:
    low = np.min([strokes[one].path.min(0) - strokes[one].width / 2 for one in group], axis=0) / side
    high = np.max([strokes[one].path.max(0) + strokes[one].width / 2 for one in group], axis=0) / side
    (left, top), (right, bottom) = np.clip(low, 0, 1).tolist(), np.clip(high, 0, 1).tolist()
    ink = strokes[group[0]].colour or "#000000"
    colour = name_of(ink) or nearest_names(rgb_of(ink), 1)[0][0]
    return DrawnDigit(tuple(group), ink, colour, (top, left, bottom, right))
