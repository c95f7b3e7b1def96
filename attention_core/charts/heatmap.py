"""Heatmaps of matrices: rects with numbers when small, one crisp image with axes when large."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_core.attention.types import Axis, Role
from attention_core.charts.design import Channel, Chart, Spec, alt
from attention_core.charts.layers import CORNERS, cells_frame, corners, fixed, rectangles
from attention_core.charts.marks import clickable, haloed, images, mark, mouse_cells
from attention_core.charts.palette import DARK, MASKED, ROLE_COLOURS, VIRIDIS, Ramp, ramp_for
from attention_core.charts.raster import block, png_url
from attention_core.charts.scale import colour_bar, colour_bar_layer, colour_scale, from_to, is_dark, names_at

MAX_RECT_SIDE = 64
"""Matrices with more rows or columns than this are drawn as an image."""
NUMBERS_BELOW = 34  # cells at least this many screen pixels wide and high carry their number
CELL = {"x": alt.X("col:O"), "y": alt.Y("row:O")}
TOOLTIP_BLOCKS = 40  # an image answers the mouse in at most this many blocks a side
ZOOM = {"name": "param_zoom", "select": {"type": "interval", "encodings": ["x", "y"]}, "bind": "scales"}


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
    numbers: Any = None,
    bar: bool = True,
    framed: Sequence[tuple[int, int]] = (),
) -> Chart:
    """Draw a matrix, rows downwards; only those of up to MAX_RECT_SIDE rows and columns have cells that answer.

    Args:
        matrix: float (n_rows, n_cols), queries by keys; -inf or NaN = masked, drawn as a grey cell.
        row_axis: of the queries.
        col_axis: of the keys.
        role: decides the colours where there is no ramp.
        title: of the colour bar.
        size: screen pixels of the longer side.
        marked_row: framed.
        ramp: colours.
        select: name of a point selection over cells (fields row and col).
        marked_col: with marked_row, frames that one cell too.
        font_size: of the numbers in the cells.
        hover_rows: whether the row under the mouse stands out.
        numbers: the axis of sides beyond MAX_RECT_SIDE, an alt.Axis; round numbers if None.
        bar: whether a colour bar stands below cells; without one the cells have edges, for a matrix that is empty.
        framed: cells (row, column) in frames of the context's colour.

    Raises:
        ValueError: the axes do not fit the matrix.
    """
    if matrix.shape != (len(row_axis), len(col_axis)):
        raise ValueError(f"matrix {matrix.shape} does not fit axes of {len(row_axis)} and {len(col_axis)}")
    ramp = ramp or ramp_for(role, matrix, matrix.shape[1])
    width, height = _screen_size(matrix.shape, size)
    large = max(matrix.shape) > MAX_RECT_SIDE
    if large:
        layers = _image_layers(matrix, row_axis, col_axis, ramp, title, width, height, numbers)
    else:
        layers = _rect_layers(
            matrix, row_axis, col_axis, ramp, title, width, height, select, font_size, hover_rows, bar
        )
        if framed:
            places = dict(zip(("row", "col"), zip(*framed, strict=True), strict=True))
            layers += haloed(places, CELL, (5, 2.5), ROLE_COLOURS[Role.CONTEXT])
    if marked_row is not None:
        layers += _frame_mark(marked_row) if large else row_mark(marked_row, height / matrix.shape[0])
        if marked_col is not None and not large:
            layers += _cell_mark(marked_row, marked_col, matrix.shape, width, height)
    return fixed(layers, width, height)


def pair_map(
    values: np.ndarray, single: Axis, role: Role, *, framed: Sequence[tuple[int, int]] = (), **more: Any
) -> Chart:
    """Draw one query's slice of n x n x n weights or scores, (n, n): first others down, second across.

    The axis says what one member of a pair can be; framed pairs are framed in both orders. More: see matrix_chart.
    """
    first, second = (Axis(f"{place} of the {single.name}", single.labels) for place in ("first", "second"))
    both = sorted({pair for row, col in framed for pair in ((row, col), (col, row))})
    return matrix_chart(values, first, second, role, framed=both, **more)


def part_chart(
    cells: np.ndarray, origin: tuple[int, int], block: int, names: tuple[str, str], *, title: str, log: bool = False
) -> Chart:
    """Draw a part of a matrix that is too large to be drawn whole; its axes say where it lies.

    Each of the cells (rows, columns) stands for a block of so many cells a side, NaN = not known yet; the origin is the
    row and column at which the part begins, the names are those of rows and columns.
    """
    ramp = Ramp(VIRIDIS, 0.0, float(np.nanmax(cells, initial=0)) or 1.0)
    if log:
        least = np.nanmin(cells, initial=ramp.high, where=cells > 0)
        lowest = min(max(float(least), ramp.high / 1e4), ramp.high / 10)
        ramp = Ramp(VIRIDIS, float(np.log10(lowest)), float(np.log10(ramp.high)))
        cells, title = np.log10(np.maximum(cells, lowest)), f"{title}, log10"
    width, height = _screen_size(cells.shape, 480)
    (top, left), (n_rows, n_cols) = origin, (block * np.array(cells.shape)).tolist()
    axis = alt.Axis(grid=False, tickCount=5, format="d")
    x = alt.X("left:Q", title=names[1], scale=from_to(left, left + n_cols), axis=axis)
    y = alt.Y("top:Q", title=names[0], scale=from_to(top + n_rows, top), axis=axis)
    whole = rectangles(left, top, n_cols, n_rows, url=png_url(cells, ramp))
    image = images(whole, {**CORNERS, "x": x, "y": y}, clip=True)
    return fixed([image, colour_bar_layer(ramp, title, min(width, 260))], width, height)


def _screen_size(shape: tuple[int, int], size: int) -> tuple[int, int]:
    """Square cells where that is sensible; a long thin matrix is widened so that its columns can be told apart."""
    n_rows, n_cols = shape
    height = size if n_rows >= n_cols else max(size * n_rows // n_cols, min(size, 26 * n_rows))
    width = size if n_cols >= n_rows else max(size * n_cols // n_rows, min(size, 26 * n_cols))
    return width, height


def _rect_layers(matrix, row_axis, col_axis, ramp, title, width, height, select, font_size, hover_rows, bar):
    data = cells_frame(matrix, row_axis.labels, col_axis.labels)
    space = {
        "x": alt.X("col:O", axis=_labelled(col_axis, width)),
        "y": alt.Y("row:O", axis=_labelled(row_axis, height, upright=True)),
    }
    legend = colour_bar(ramp, title, min(width, 260)) if bar else None
    colour = alt.Color("value:Q", scale=colour_scale(ramp), legend=legend)
    known = alt.condition("datum.masked", alt.value(f"{MASKED}55"), colour)
    told = ("row_label:N", row_axis.name), ("col_label:N", col_axis.name), ("value:Q", title or "value", ".4g")
    edges = {} if bar else {"stroke": MASKED, "strokeWidth": 0.5}
    cells = mark("rect", data, space, *told, color=known, invalid=None, **edges)
    cells = clickable(cells, select, "row", "col", clear=alt.Undefined)
    if hover_rows:
        looked = alt.selection_point(name="looked", fields=["row"], on="pointerover", clear="pointerout")
        cells = cells.add_params(looked).encode(opacity=alt.condition(looked, alt.value(1), alt.value(0.3)))
    layers = [cells]
    if width / matrix.shape[1] >= NUMBERS_BELOW * font_size / 11 and height / matrix.shape[0] >= 16 * font_size / 11:
        space["text"] = alt.Text("value:Q", format=".2f")
        numbers = mark("text", data, space, color=_contrast(ramp), fontSize=font_size, aria=True)
        layers.append(numbers.transform_filter("!datum.masked"))
    return layers


def _contrast(ramp: Ramp) -> Channel:
    span, low = max(ramp.high - ramp.low, 1e-30), ramp.low
    place = f"floor(63 * pow(clamp((datum.value - {low!r}) / {span!r}, 0, 1), {ramp.exponent!r}))"
    dark = json.dumps(is_dark(ramp.lookup(64)).astype(int).tolist())
    return alt.condition(f"{dark}[{place}]", alt.value("#ffffff"), alt.value(DARK))


def _labelled(axis: Axis, length: int, upright: bool = False, place: str = "datum.value", **more: Any) -> Spec:
    """Positions on the axis, words in its labels, so that repeated words stay apart; upright where they fit."""
    room = max(1, int(length // 14))
    every = -(-len(axis) // room)
    longest = max(map(len, axis.labels), default=0)
    fits = upright or longest <= 3 or 7 * longest <= every * length / max(len(axis), 1)
    return alt.Axis(
        title=axis.name,
        labelExpr=names_at(axis.labels, place, every),
        labelAngle=0 if fits else -45,
        labelLimit=90,
        ticks=False,
        domain=False,
        labelOverlap=False,
        **more,
    )


def _image_axis(axis: Axis, length: int, numbers: Spec | None, upright: bool = False) -> Spec:
    if len(axis) > MAX_RECT_SIDE:
        return numbers or alt.Axis(grid=False, tickCount=5, format="d")
    middles = [position + 0.5 for position in range(len(axis))]
    return _labelled(axis, length, upright, "floor(datum.value)", values=middles, tickCount=len(axis), grid=False)


def _image_layers(matrix, row_axis, col_axis, ramp, title, width, height, numbers):
    n_rows, n_cols = matrix.shape
    columns, rows = _image_axis(col_axis, width, numbers), _image_axis(row_axis, height, numbers, upright=True)
    x = alt.X("left:Q", title=col_axis.name, scale=from_to(0, n_cols), axis=columns)
    y = alt.Y("top:Q", title=row_axis.name, scale=from_to(n_rows, 0), axis=rows)
    whole = rectangles(0, 0, n_cols, n_rows, url=png_url(matrix, ramp))
    image = images(whole, corners(n_cols, n_rows, x=x, y=y), clip=True).add_params(ZOOM)
    return [image, _tooltip_layer(matrix, row_axis, col_axis, title), colour_bar_layer(ramp, title, min(width, 260))]


def _tooltip_layer(matrix, row_axis, col_axis, title):
    factors = tuple(-(-n // TOOLTIP_BLOCKS) for n in matrix.shape)
    finite = np.where(np.isfinite(matrix), matrix, np.nan)
    largest = block(finite, factors, np.fmax.reduceat)
    counts = block(np.isfinite(matrix).astype(float), factors, np.add.reduceat)
    means = block(np.nan_to_num(finite), factors, np.add.reduceat) / np.maximum(counts, 1)
    places = np.indices(largest.shape).reshape(2, -1)
    tops_lefts = [factor * along for factor, along in zip(factors, places, strict=True)]
    sizes = [np.minimum(f, n - first) for f, n, first in zip(factors, matrix.shape, tops_lefts, strict=True)]
    numbers = {"mean": means, "largest": largest}
    told = {name: one.ravel().round(6).astype(np.float32) for name, one in numbers.items()}
    frame = rectangles(*tops_lefts[::-1], *sizes[::-1], **told)
    frame["rows"], frame["cols"] = (
        np.array(_names_of_blocks(axis, factor), object)[along]
        for axis, factor, along in zip((row_axis, col_axis), factors, places, strict=True)
    )
    values = [(f"{what}:Q", f"{what} {title.lower()}".strip(), ".3g") for what in numbers]
    return mouse_cells(frame, CORNERS, ("rows:N", row_axis.name), ("cols:N", col_axis.name), *values)


def _names_of_blocks(axis: Axis, factor: int) -> list[str]:
    n = len(axis)
    if factor == 1:
        return list(axis.labels)
    return [f"{first + 1} to {min(first + factor, n)}" for first in range(0, n, factor)]


def _frame_mark(row: int) -> list[Chart]:
    """Return a frame around the chosen row of an image, a line where rows are thinner than it."""
    ends = {"y": alt.Y("top:Q"), "y2": alt.Y2("bottom:Q")}
    return haloed({"top": [row], "bottom": [row + 1]}, ends, (4, 2), clip=True)


def row_mark(row: int, height: float) -> list[Chart]:
    """Return a frame around the chosen row of cells so high, in the query's colour on a white halo."""
    return haloed({"row": [row]}, {"y": alt.Y("row:O")}, (4, 2), kind="bar", height=height)


def _cell_mark(row, col, shape, width, height):
    size = {"width": width / shape[1] - 1, "height": height / shape[0] - 1}
    return haloed({"row": [row], "col": [col]}, CELL, (5, 2.5), DARK, **size)
