"""A matrix product as many dot products: left factor, right factor and result, with one row and column lit up."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts.design import (
    DARK,
    FILL,
    GREY,
    INK,
    ROLE_COLOURS,
    WORDS,
    Chart,
    Columns,
    Ramp,
    alt,
    clickable,
    colour_bar_layer,
    corners,
    fixed,
    haloed,
    mark,
    painted,
    pointer,
    ramp_for,
    rectangles,
    texts,
    word,
)

GAP = 0.45
"""Between the factors and the result, in cells."""
SMALLEST_CELL, LARGEST_CELL = 20, 54
NUMBERS_FROM, FONT_SIZE = 33, 12
"""Screen pixels of a cell from which on it carries its number, and of the number."""
LABEL_ROOM = 64


class Factor(NamedTuple):
    """One of the three matrices of a product."""

    name: str  # such as "X" or "Kᵀ"
    values: np.ndarray  # float (n_rows, n_columns)
    role: Role  # decides the colours
    first_column: int = 0  # how many columns of the whole matrix go before it, where it is one head's part

    @property
    def ramp(self) -> Ramp:
        return ramp_for(self.role, self.values, self.values.shape[1])


def product_cell(left: np.ndarray, right: np.ndarray, width: int, height: int) -> int | None:
    """Return the screen pixels of a cell at which the product fits, or None where cells would be too small to see.

    The factors are (n_rows, n_inner) and (n_inner, n_columns); width and height are the screen pixels there are.
    """
    across = left.shape[1] + right.shape[1] + GAP
    down = right.shape[0] + left.shape[0] + GAP
    cell = int(min((width - LABEL_ROOM) / across, (height - 70) / down, LARGEST_CELL))
    return cell if cell >= SMALLEST_CELL else None


def product_chart(
    left: Factor,
    right: Factor,
    result: Factor,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    *,
    cell: int,
    row: int,
    column: int,
    select: str | None = None,
    title: str = "",
) -> Chart:
    """Draw left times right = result in Falk's scheme: every result cell lies where its row and its column cross.

    The result is the product or what became of it, its cell at row and column is lit. Cells have so many screen pixels,
    see product_cell; a point selection over the result's cells has the fields row and col.

    Raises:
        ValueError: shapes that do not multiply.
    """
    (n_rows, n_inner), (inner, n_columns) = left.values.shape, right.values.shape
    if n_inner != inner or result.values.shape != (n_rows, n_columns):
        raise ValueError(
            f"{left.values.shape} times {right.values.shape} needs equal inner widths and a result of "
            f"{(n_rows, n_columns)}, got {result.values.shape}"
        )
    start, top = n_inner + GAP, inner + GAP
    results, factors = _cells(result, start, top), _joined(_cells(left, 0, top), _cells(right, start, 0))
    across, down = start + n_columns, top + n_rows
    space = corners(across, down)
    layers = [_painted(factors, space, None), _painted(results, space, select)]
    if cell >= NUMBERS_FROM:
        layers.append(_numbers(_joined(factors, results), space))
    at_x, at_y = start + column, top + row
    lit = rectangles([0.0, at_x, at_x], [at_y, 0.0, at_y], [n_inner, 1, 1], [1, inner, 1])
    lit["colour"] = [ROLE_COLOURS[left.role], ROLE_COLOURS[right.role], DARK]
    layers += haloed(lit, space, (5.0, 2.5), alt.Stroke("colour:N", scale=None))
    layers += _labels(row_labels, column_labels, start, top, across, cell, space)
    if inner:  # the names stand in the free corner at the top left
        style: dict[str, Any] = {"fontSize": 15, "fontWeight": "bold", "align": "right", "baseline": "bottom"}
        layers.append(word(left.name, inner, top, space, dy=-4, dx=-2, color=ROLE_COLOURS[left.role], **style))
        layers.append(word(right.name, start, inner, space, dx=-6, color=ROLE_COLOURS[right.role], **style))
    layers.append(colour_bar_layer(result.ramp, title, min(round(across * cell) - 20, 220)))
    return fixed(layers, round(across * cell), round(down * cell))


def _joined(first: Columns, second: Columns) -> Columns:
    return {name: np.append(first[name], second[name]) for name in first}


def _cells(factor: Factor, start: float, top: float) -> Columns:
    values = factor.values
    rows, cols = np.indices(values.shape).reshape(2, -1)
    fill, ink = painted(values.ravel(), factor.ramp)
    frame = rectangles(start + cols, top + rows, matrix=factor.name, row=rows, col=cols, fill=fill, ink=ink)
    return {**frame, "value": np.where(np.isfinite(values), values, np.nan).ravel().astype(float)}


def _painted(frame: Columns, space: dict[str, Any], select: str | None) -> Chart:
    shown = {**frame, "shown_row": frame["row"] + 1, "shown_col": frame["col"] + 1}
    cells = zip(*(shown[name] for name in ("matrix", "shown_row", "shown_col", "value")), strict=True)
    shown["words"] = [f"{matrix}, row {row}, column {col}: {short(value)}" for matrix, row, col, value in cells]
    look = {"stroke": GREY, "strokeWidth": 0.4, "strokeOpacity": 0.5, "cursor": pointer(select)["cursor"]}
    told = "matrix:N", ("shown_row:Q", "row"), ("shown_col:Q", "column"), ("value:Q", "", ".5g")
    said = alt.Description("words:N")
    return clickable(mark("rect", shown, space, *told, color=FILL, description=said, **look), select, "row", "col")


def _numbers(frame: Columns, space: dict[str, Any]) -> Chart:
    there = ~np.isnan(frame["value"])
    middle = {"left": frame["left"][there] + 0.5, "top": frame["top"][there] + 0.5, "ink": frame["ink"][there]}
    middle["text"] = [short(value) for value in frame["value"][there]]
    return texts(middle, space, fontSize=FONT_SIZE, color=INK)


def short(value: float) -> str:
    """Return a number that fits a cell: at most two decimals, none where there are none; - for no number."""
    if value != value:
        return "-"
    size = abs(value)
    text = f"{size:.0e}" if size >= 1000 else f"{size:.0f}" if size >= 100 else f"{size:.2f}".rstrip("0").rstrip(".")
    return f"−{text}" if value < 0 and text != "0" else text


def _labels(row_labels, column_labels, start, top, across, cell, space):
    every = max(1, round(14 / cell))
    names = [label[:9] if place % every == 0 else "" for place, label in enumerate(row_labels)]
    rows = rectangles(across, top + np.arange(len(row_labels)) + 0.5, text=names)
    cols = rectangles(start + np.arange(len(column_labels)) + 0.5, 0.0, text=_fitting(column_labels, cell))
    style: dict[str, Any] = {"fontSize": FONT_SIZE, "color": WORDS}
    return [texts(rows, space, align="left", dx=6, **style), texts(cols, space, baseline="bottom", dy=-4, **style)]


def _fitting(labels: Sequence[str], cell: int) -> list[str]:
    room = max(1, cell // 7)
    if max(map(len, labels)) <= room:
        return list(labels)
    if cell < 30:
        return [""] * len(labels)
    return [label if len(label) <= room else label[: max(room - 1, 1)] + "…" for label in labels]
