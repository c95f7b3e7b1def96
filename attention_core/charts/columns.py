"""Data of charts as columns: one row per series and position, per rectangle, per cell, per picture in a grid."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Columns = dict[str, Any]
"""Columns of equal length by their names. PNG bytes in them become data URLs, or files."""


def long_form(
    fields: tuple[str, str, str], series: Mapping[str, Any], at: Sequence[Any] | None = None, **details: Any
) -> Columns:
    """Return one row per series and position, without those whose number is None.

    The fields are the names of the columns of series, positions and numbers. Positions are 0, 1, 2 ... if none are
    given; details are further columns, one value per position.
    """
    rows = [
        (name, position, float(number), *(column[i] for column in details.values()))
        for name, numbers in series.items()
        for i, (position, number) in enumerate(zip(range(len(numbers)) if at is None else at, numbers, strict=True))
        if number is not None
    ]
    return {field: [row[i] for row in rows] for i, field in enumerate((*fields, *details))}


def rectangles(left: Any, top: Any, width: Any = 1, height: Any = 1, **columns: Any) -> Columns:
    """Return columns left, right, top, bottom and further ones; one number or text counts for all rectangles."""
    left, top, width, height = np.broadcast_arrays(*map(np.atleast_1d, (left, top, width, height)))
    columns = {name: [value] * len(left) if np.isscalar(value) else value for name, value in columns.items()}
    return {"left": left, "right": left + width, "top": top, "bottom": top + height, **columns}


def cell_columns(matrix: np.ndarray, row_labels: Sequence[str], col_labels: Sequence[str]) -> Columns:
    """Return one row per cell: row, col (positions), row_label, col_label, value (NaN where masked), masked."""
    rows, cols = np.indices(matrix.shape).reshape(2, -1)
    is_number = np.isfinite(matrix).ravel()
    return {
        "row": rows,
        "col": cols,
        "row_label": np.asarray(row_labels, dtype=object)[rows],
        "col_label": np.asarray(col_labels, dtype=object)[cols],
        "value": np.where(is_number, matrix.ravel(), np.nan).astype(float),
        "masked": ~is_number,
    }


def grid_layout(n: int, columns: int, width: int, height: int, gap: int, head: int) -> tuple[Columns, int, int]:
    """Return number and corners of n pictures of one size in a grid, and the width and height of the grid.

    There are gaps between the pictures, and room of height `head` above each.
    """
    numbers = np.arange(n)
    left, top = numbers % columns * (width + gap), numbers // columns * (height + gap + head) + head
    frame = rectangles(left, top, width, height, number=numbers)
    return frame, min(columns, n) * (width + gap) - gap, -(-n // columns) * (height + gap + head) - gap
