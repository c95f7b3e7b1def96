"""Heatmaps of matrices: rects with numbers when small, one crisp image with axes when large."""

from __future__ import annotations

import json

import altair as alt
import numpy as np
import pandas as pd

from attention_core.attention.types import Axis, Role
from attention_core.charts.layers import CORNERS, fixed, haloed
from attention_core.charts.palette import ROLE_COLOURS, Ramp, ramp_for
from attention_core.charts.raster import block, png_url
from attention_core.charts.scale import cells_frame, colour_bar, colour_bar_layer, colour_scale, is_dark

MAX_RECT_SIDE = 64
"""Matrices with more rows or columns than this are drawn as an image."""
NUMBERS_BELOW = 34
"""Cells at least this many screen pixels wide and high carry their number."""
CHOSEN = "#14181d"
"""Frame of a chosen cell, inside a white one, so that it shows on every ground."""
TOOLTIP_BLOCKS = 40
"""An image answers the mouse in at most this many blocks a side."""


def matrix_chart(
    matrix: np.ndarray,
    row_axis: Axis,
    col_axis: Axis,
    role: Role,
    *,
    title: str = "",
    size: int = 480,
    marked_row: int | None = None,
    ramp: Ramp | None = None,
    select: str | None = None,
    marked_col: int | None = None,
    font_size: int = 11,
    hover_rows: bool = False,
) -> alt.LayerChart:
    """Draw a matrix, rows downwards.

    Args:
        matrix: float (n_rows, n_cols); -inf or NaN = masked, drawn as a grey cell.
        row_axis: what the rows stand for; queries are rows.
        col_axis: what the columns stand for; keys are columns.
        role: decides the default colours.
        title: of the colour bar.
        size: screen pixels of the longer side.
        marked_row: the chosen query, or None.
        ramp: colours; those of the role if None.
        select: name of a point selection over cells (fields row and col), or None.
        marked_col: with marked_row, frames that one cell too; up to MAX_RECT_SIDE rows and columns.
        font_size: of the numbers in the cells.
        hover_rows: whether the row under the mouse stands out; up to MAX_RECT_SIDE rows and columns.

    Raises:
        ValueError: the axes do not fit the matrix.
    """
    if matrix.shape != (len(row_axis), len(col_axis)):
        raise ValueError(f"matrix {matrix.shape} does not fit axes of {len(row_axis)} and {len(col_axis)}")
    ramp = ramp or ramp_for(role, matrix, matrix.shape[1])
    width, height = _screen_size(matrix.shape, size)
    if max(matrix.shape) <= MAX_RECT_SIDE:
        layers = _rect_layers(matrix, row_axis, col_axis, ramp, title, width, height, select, font_size, hover_rows)
    else:
        layers = _image_layers(matrix, row_axis, col_axis, ramp, title, width)
    if marked_row is not None:
        layers += _row_marks(marked_row, matrix.shape, height, by_position=max(matrix.shape) > MAX_RECT_SIDE)
        if marked_col is not None and max(matrix.shape) <= MAX_RECT_SIDE:
            layers += _cell_mark(marked_row, marked_col, matrix.shape, width, height)
    chart = fixed(layers, width, height)
    return chart.interactive() if max(matrix.shape) > MAX_RECT_SIDE else chart


def _screen_size(shape: tuple[int, int], size: int) -> tuple[int, int]:
    """Square cells where that is sensible; a long thin matrix is widened so that its columns can be told apart."""
    n_rows, n_cols = shape
    height = size if n_rows >= n_cols else max(size * n_rows // n_cols, min(size, 26 * n_rows))
    width = size if n_cols >= n_rows else max(size * n_cols // n_rows, min(size, 26 * n_cols))
    return width, height


def _rect_layers(matrix, row_axis, col_axis, ramp, title, width, height, select, font_size, hover_rows=False):
    frame = cells_frame(matrix, list(row_axis.labels), list(col_axis.labels))
    base = alt.Chart(frame).encode(
        x=alt.X("col:O", axis=_labelled(col_axis, width)),
        y=alt.Y("row:O", axis=_labelled(row_axis, height, upright=True)),
    )
    colour = alt.Color("value:Q", scale=colour_scale(ramp), legend=colour_bar(ramp, title, min(width, 260)))
    cells = base.mark_rect(invalid=None).encode(
        color=alt.condition("datum.masked", alt.value("#9aa1aa55"), colour),
        tooltip=[
            alt.Tooltip("row_label:N", title=row_axis.name),
            alt.Tooltip("col_label:N", title=col_axis.name),
            alt.Tooltip("value:Q", title=title or "value", format=".4g"),
        ],
    )
    if select:
        picked = alt.selection_point(name=select, fields=["row", "col"], on="click", empty=False)
        cells = cells.add_params(picked)
    if hover_rows:
        looked = alt.selection_point(name="looked", fields=["row"], on="pointerover", clear="pointerout")
        cells = cells.add_params(looked).encode(opacity=alt.condition(looked, alt.value(1), alt.value(0.3)))
    layers = [cells]
    if width / matrix.shape[1] >= NUMBERS_BELOW * font_size / 11 and height / matrix.shape[0] >= 16 * font_size / 11:
        layers.append(
            base.transform_filter("!datum.masked")
            .mark_text(fontSize=font_size)
            .encode(text=alt.Text("value:Q", format=".2f"), color=_contrast(ramp))
        )
    return layers


def _contrast(ramp: Ramp):
    """Return black on bright cells and white on dark ones, by the ramp's own brightness."""
    span, low = max(ramp.high - ramp.low, 1e-30), ramp.low
    place = f"floor(63 * pow(clamp((datum.value - {low!r}) / {span!r}, 0, 1), {ramp.exponent!r}))"
    dark = json.dumps(is_dark(ramp.lookup(64)).astype(int).tolist())
    return alt.condition(f"{dark}[{place}]", alt.value("#ffffff"), alt.value("#14181d"))


def _labelled(axis: Axis, length: int, upright: bool = False) -> alt.Axis:
    """Positions on the axis, words in its labels, so that repeated words stay apart; upright where they fit."""
    room = max(1, int(length // 14))
    every = -(-len(axis) // room)
    text = f"datum.value % {every} == 0 ? {json.dumps(list(axis.labels))}[datum.value] : ''"
    longest = max(map(len, axis.labels), default=0)
    fits = upright or longest <= 3 or 7 * longest <= every * length / max(len(axis), 1)
    return alt.Axis(
        title=axis.name,
        labelExpr=text,
        labelAngle=0 if fits else -45,
        labelLimit=90,
        ticks=False,
        domain=False,
        labelOverlap=False,
    )


def _image_layers(matrix, row_axis, col_axis, ramp, title, width):
    n_rows, n_cols = matrix.shape
    corners = pd.DataFrame([{"url": png_url(matrix, ramp), "left": 0, "right": n_cols, "top": 0, "bottom": n_rows}])
    x = alt.X("left:Q", title=col_axis.name, scale=alt.Scale(domain=[0, n_cols], nice=False), axis=_numbers())
    y = alt.Y("top:Q", title=row_axis.name, scale=alt.Scale(domain=[n_rows, 0], nice=False), axis=_numbers())
    image = (
        alt.Chart(corners)
        .mark_image(smooth=False, aspect=False, clip=True, aria=False)
        .encode(x=x, x2=alt.X2("right"), y=y, y2=alt.Y2("bottom"), url=alt.Url("url:N"))
    )
    return [image, _tooltip_layer(matrix, row_axis, col_axis, title), colour_bar_layer(ramp, title, min(width, 260))]


def _numbers() -> alt.Axis:
    return alt.Axis(grid=False, tickCount=5, format="d")


def _tooltip_layer(matrix, row_axis, col_axis, title):
    factor = -(-max(matrix.shape) // TOOLTIP_BLOCKS)
    finite = np.where(np.isfinite(matrix), matrix, np.nan)
    largest = block(finite, factor, np.fmax.reduceat)
    counts = block(np.isfinite(matrix).astype(float), factor, np.add.reduceat)
    means = block(np.nan_to_num(finite), factor, np.add.reduceat) / np.maximum(counts, 1)
    tops, lefts = np.arange(0, matrix.shape[0], factor), np.arange(0, matrix.shape[1], factor)
    rows, cols = np.repeat(tops, len(lefts)), np.tile(lefts, len(tops))
    frame = pd.DataFrame(
        {
            "left": cols,
            "right": np.minimum(cols + factor, matrix.shape[1]),
            "top": rows,
            "bottom": np.minimum(rows + factor, matrix.shape[0]),
            "rows": [f"{r} to {min(r + factor, matrix.shape[0]) - 1}" for r in rows],
            "cols": [f"{c} to {min(c + factor, matrix.shape[1]) - 1}" for c in cols],
            "mean": means.ravel().round(6),
            "largest": largest.ravel().round(6),
        }
    )
    return (
        alt.Chart(frame)
        .mark_rect(opacity=0, aria=False)
        .encode(
            **CORNERS,
            tooltip=[
                alt.Tooltip("rows:N", title=row_axis.name),
                alt.Tooltip("cols:N", title=col_axis.name),
                alt.Tooltip("mean:Q", title=f"mean {title.lower()}".strip(), format=".3g"),
                alt.Tooltip("largest:Q", title=f"largest {title.lower()}".strip(), format=".3g"),
            ],
        )
    )


def _row_marks(row, shape, height, by_position):
    """Frame the chosen row in the query's colour, on a white halo that shows on any ground."""
    if by_position:
        frame = pd.DataFrame([{"top": row + 0.5}])
        base = alt.Chart(frame).encode(y=alt.Y("top:Q"))
        return [
            base.mark_rule(color="white", strokeWidth=3, opacity=0.8, clip=True, aria=False),
            base.mark_rule(color=ROLE_COLOURS[Role.QUERY], strokeWidth=1.6, clip=True, aria=False),
        ]
    base = alt.Chart(pd.DataFrame([{"row": row}])).encode(y=alt.Y("row:O"))
    return haloed(base.mark_bar, ROLE_COLOURS[Role.QUERY], (4, 2), fillOpacity=0, height=height / shape[0])


def _cell_mark(row, col, shape, width, height):
    frame = pd.DataFrame([{"row": row, "col": col}])
    base = alt.Chart(frame).encode(x=alt.X("col:O"), y=alt.Y("row:O"))
    size = {"width": width / shape[1] - 1, "height": height / shape[0] - 1}
    return haloed(base.mark_rect, CHOSEN, (5, 2.5), fillOpacity=0, **size)
