"""Where things lie: a plot of exact size, and rectangles in it, on the screen and as columns of data."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_core.charts.design import Chart, Columns, alt
from attention_core.charts.scale import from_to

CORNERS = {"x": alt.X("left:Q"), "x2": alt.X2("right"), "y": alt.Y("top:Q"), "y2": alt.Y2("bottom")}
"""Channels of rectangles, in the scales of another layer."""


def fixed(layers: Sequence[Chart], width: int, height: int, **properties: Any) -> Chart:
    """Return layers in a plot of exactly this size; axes and colour bar come on top (cells stay square)."""
    return alt.layer(*layers, width=width, height=height, autosize={"type": "pad"}, **properties)


def corners(width: float, height: float, **own: Any) -> dict[str, Any]:
    """Return the channels of rectangles, (0, 0) at the top left, without axes; own: an x or y that has one."""
    x = alt.X("left:Q", axis=None, scale=from_to(0, width))
    return {**CORNERS, "x": x, "y": alt.Y("top:Q", axis=None, scale=from_to(height, 0)), **own}


def rectangles(left: Any, top: Any, width: Any = 1, height: Any = 1, **columns: Any) -> Columns:
    """Return rectangles: left, right, top, bottom and what else is known of them; one number or text counts for all."""
    left, top, width, height = np.broadcast_arrays(*map(np.atleast_1d, (left, top, width, height)))
    known = {name: [one] * len(left) if np.isscalar(one) else one for name, one in columns.items()}
    return {"left": left, "right": left + width, "top": top, "bottom": top + height, **known}


def cells_frame(matrix: np.ndarray, row_labels: Sequence[str], col_labels: Sequence[str]) -> Columns:
    """Return one row per cell: row, col (positions), row_label, col_label, value (NaN where masked), masked."""
    rows, cols = np.indices(matrix.shape).reshape(2, -1)
    there = np.isfinite(matrix).ravel()
    return {
        "row": rows,
        "col": cols,
        "row_label": np.asarray(row_labels, dtype=object)[rows],
        "col_label": np.asarray(col_labels, dtype=object)[cols],
        "value": np.where(there, matrix.ravel(), np.nan).astype(float),
        "masked": ~there,
    }


def sheet(n: int, columns: int, width: int, height: int, gap: int, head: int) -> tuple[Columns, int, int]:
    """Return where n pictures of one size lie, line by line: number and corners, and the whole's width and height.

    A line has so many columns, with gaps between the pictures and room for a head above each.
    """
    places = np.arange(n)
    left, top = places % columns * (width + gap), places // columns * (height + gap + head) + head
    frame = rectangles(left, top, width, height, number=places)
    return frame, min(columns, n) * (width + gap) - gap, -(-n // columns) * (height + gap + head) - gap
