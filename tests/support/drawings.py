"""Pads with drawings on them, and where their ink lies."""

import numpy as np

from attention_core.data.drawing import SIDE, draw_paths
from attention_core.data.presets import preset_paths

DARK, LIGHT = (17, 21, 26), (244, 246, 248)


COLOURS = {
    "black on white": ((0, 0, 0), (255, 255, 255)),
    "light on dark": (LIGHT, DARK),
    "red on blue": ((220, 30, 30), (20, 40, 160)),
    "yellow on grey": ((250, 230, 60), (120, 120, 120)),
}


def preset_canvas(digit, side=256, size=1.0, shift=(0.0, 0.0), width=0.075, colours="black on white"):
    """Return a preset drawn at a size (share of the canvas) and shifted (share of the room that is left)."""
    paths = [path * size for path in preset_paths(digit, side)]
    room = side * (1 - size)
    moved = [path + np.array(shift) * room for path in paths]
    return draw_paths(moved, side, width * side * size, *COLOURS[colours])


def centre_of_mass(image):
    places = np.arange(SIDE)
    return (image.sum(1) @ places) / image.sum(), (image.sum(0) @ places) / image.sum()


def extent(image):
    rows, columns = np.nonzero(image)
    return max(np.ptp(rows), np.ptp(columns)) + 1


def difference(one, other):
    """Mean difference of two pictures, apart from a step of one whole pixel (the centre is laid on whole pixels)."""
    steps = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
    return min(np.abs(one - np.roll(other, step, (0, 1))).mean() for step in steps)
