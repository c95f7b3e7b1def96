"""Which strokes of a coloured drawing belong together to one digit, and where it stands."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attention_core.data.colours import name_of, nearest_names, rgb_of
from attention_core.data.stroke import Stroke

Box = tuple[float, float, float, float]
TOUCHING = 0.02  # share of the canvas' side: strokes of one ink whose edges are nearer than this make one digit
MOST_POINTS = 120  # of a stroke that are looked at


@dataclass(frozen=True)
class DrawnDigit:
    """Strokes of one ink that touch each other."""

    strokes: tuple[int, ...]  # their places in the drawing, ascending
    ink: str  # "#rrggbb"
    colour: str  # what people call the ink, or the name whose pen is nearest to it
    box: Box  # (top, left, bottom, right) of the ink in shares of the canvas' side

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
    """Group the strokes of a drawing on a square canvas into digits, in the order of their first strokes.

    Strokes without a colour are in the canvas' own ink; those of the paper's colour, "#rrggbb", erase and are no digit.
    """
    inked = [place for place, stroke in enumerate(strokes) if (stroke.colour or "").lower() != paper.lower()]
    groups: list[list[int]] = []
    for place in inked:
        near = [group for group in groups if any(_touch(strokes[place], strokes[other], side) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append(sorted([place, *(member for group in near for member in group)]))
    return [_digit(sorted(group), strokes, side) for group in sorted(groups)]


def overlapping(digits: Sequence[DrawnDigit]) -> bool:
    """Say whether the boxes of two digits lie over each other by more than a third of the smaller one."""
    boxes = [digit.box for digit in digits]
    return any(_shared(box, other) > 1 / 3 for place, box in enumerate(boxes) for other in boxes[:place])


def _shared(box: Box, other: Box) -> float:
    height = min(box[2], other[2]) - max(box[0], other[0])
    width = min(box[3], other[3]) - max(box[1], other[1])
    smaller = min((bottom - top) * (right - left) for top, left, bottom, right in (box, other))
    return max(height, 0.0) * max(width, 0.0) / max(smaller, 1e-9)


def _touch(stroke: Stroke, other: Stroke, side: int) -> bool:
    if (stroke.colour or "").lower() != (other.colour or "").lower():
        return False
    first, second = (path[:: max(1, len(path) // MOST_POINTS)] for path in (stroke.path, other.path))
    distance = float(np.linalg.norm(first[:, None] - second[None], axis=-1).min())
    return distance < (stroke.width + other.width) / 2 + TOUCHING * side


def _digit(group: list[int], strokes: Sequence[Stroke], side: int) -> DrawnDigit:
    low = np.min([strokes[member].path.min(0) - strokes[member].width / 2 for member in group], axis=0) / side
    high = np.max([strokes[member].path.max(0) + strokes[member].width / 2 for member in group], axis=0) / side
    (left, top), (right, bottom) = np.clip(low, 0, 1).tolist(), np.clip(high, 0, 1).tolist()
    ink = strokes[group[0]].colour or "#000000"
    colour = name_of(ink) or nearest_names(rgb_of(ink), 1)[0][0]
    return DrawnDigit(tuple(group), ink, colour, (top, left, bottom, right))
