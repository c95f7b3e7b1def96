"""A drawing as the pad in the browser tells and saves it, read with mistrust: anybody may send anything instead."""

import re
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image

from attention_core.bounds import DRAWING_BYTES, DRAWING_POINTS, DRAWING_STROKES, DRAWING_WAY
from attention_core.data.stroke import Stroke
from attention_core.files import read_json

FAULTS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""What goes wrong where a drawing is something else."""


def read_drawing(content: bytes) -> list[Stroke]:
    """Return the strokes of a saved drawing; ValueError for people if it is none."""
    try:
        drawing = read_json(content, DRAWING_BYTES.most)
        strokes = strokes_of(drawing)
        n_commands = sum(len(shape["path"]) for shape in drawing["objects"])
        if not strokes or len(strokes) > DRAWING_STROKES.most or n_commands > DRAWING_POINTS.most:
            raise ValueError
    except FAULTS as error:
        raise ValueError("This is not a drawing saved here (or it is over 2 MB). Yours is still on the pad.") from error
    return strokes


def strokes_of(drawing: Any) -> list[Stroke] | None:
    """Return the strokes of a drawing that a browser sends, those of unknown colour without one; None if it is none."""
    try:
        strokes = inked_strokes(drawing)
        return strokes if way_of(strokes) <= DRAWING_WAY.most else None
    except FAULTS:
        return None


def way_of(strokes: Sequence[Stroke]) -> float:
    """Return how far the pen goes along and down in a drawing, canvas pixels."""
    return float(sum(np.abs(np.diff(stroke.path, axis=0)).sum() for stroke in strokes))


def pixels_of(picture: bytes | None, size: tuple[int, int]) -> np.ndarray | None:
    """Return what a browser shows on a canvas, uint8 (height, width, 4); None where it sends no such picture."""
    try:
        image = Image.open(BytesIO(picture or b""), formats=("PNG",))
        return np.asarray(image) if (image.size, image.mode) == (size[::-1], "RGBA") else None
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None


def _placed(path: np.ndarray, shape: dict[str, Any]) -> np.ndarray:
    """Return the path where the stroke stands now: dragged strokes keep their old path and get a new centre."""
    if not {"left", "top", "width", "height"} <= shape.keys():
        return path
    pen, scale = shape.get("strokeWidth", 0), np.array([shape.get("scaleX", 1), shape.get("scaleY", 1)])
    size = (np.array([shape["width"], shape["height"]]) + pen) * scale
    share = [{"left": 0.5, "top": 0.5}.get(str(shape.get(origin)), 0.0) for origin in ("originX", "originY")]
    centre = np.array([shape["left"], shape["top"]]) + size * share
    return (path - (path.min(0) + path.max(0)) / 2) * scale + centre


def _sound_colour(stroke: Any) -> str | None:
    return stroke if isinstance(stroke, str) and re.fullmatch("#[0-9a-fA-F]{6}", stroke) else None


def _sound_width(width: Any) -> float:
    return min(60.0, max(1.0, float(width))) if isinstance(width, int | float) and width == width else 20.0


def inked_strokes(drawing: dict[str, Any]) -> list[Stroke]:
    """Return each stroke of a canvas drawing with its pen and colour, None where that is unknown; or one of FAULTS."""
    strokes = []
    for shape in drawing.get("objects", []):
        points = [command[-2:] for command in shape.get("path", []) if len(command) >= 3]  # curves become their ends
        if points:
            path = _placed(np.array(points, dtype=float), shape)
            pen, colour = shape.get("strokeWidth", 20), shape.get("stroke")
            strokes.append(Stroke(path, _sound_width(pen), _sound_colour(colour)))
    return strokes
