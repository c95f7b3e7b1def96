"""Matrices as charts: cells with numbers when small, one crisp image when large."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from attention_core.attention.types import Axis, Role
from attention_core.attention.view.colours import MASKED_COLOUR
from attention_core.charts import layers
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import Columns, cell_columns, rectangles
from attention_core.charts.layers import BAR_EXPONENT, BAR_HIGH, BAR_LOW, CORNERS, QUIET, Bar, Space, named
from attention_core.charts.png import matrix_png, reduce_blocks
from attention_core.charts.ramps import (
    DARK_COLOUR,
    FAINT,
    INK_COLOURS,
    ROLE_COLOURS,
    Ramp,
    is_dark,
    ramp_for,
)

MAX_RECT_SIDE = 64
"""Matrices with more rows or columns than this are drawn as an image."""
MIN_NUMBER_WIDTH, MIN_NUMBER_HEIGHT, FONT_SIZE = 34, 16, 11
"""Screen pixels of a cell that carries its number, and of the number's letters."""
CELL: Space = {"x": alt.X("col:O"), "y": alt.Y("row:O")}
TOOLTIP_BLOCKS = 40  # an image answers the mouse in at most this many blocks a side
MAX_PIECES = 1200  # of rows, in which an image answers whose rows are selected; pages draw more on a canvas
VIEW = alt.ViewBackground(stroke=FAINT)


class AxisTexts(NamedTuple):
    """What an axis says."""

    title: str
    labels: tuple[str, ...] = ()  # one per position; () = positions are numbered


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
    font_size: int = FONT_SIZE,
    hover_rows: bool = False,
    framed: Sequence[tuple[int, int]] = (),
    select: str | None = None,
) -> Chart:
    """Draw a matrix, rows downwards; those of more than MAX_RECT_SIDE rows or columns are an image.

    Args:
        matrix: float (n_rows, n_cols), queries by keys; -inf or NaN = masked, drawn as a grey cell.
        row_axis: of the queries.
        col_axis: of the keys.
        role: decides the colours where there is no ramp.
        title: of the colour bar.
        size: screen pixels of the longer side.
        marked_row: framed.
        ramp: colours.
        font_size: of the numbers in the cells.
        hover_rows: whether the row under the mouse stands out.
        framed: cells (row, column) in frames of the context's colour.
        select: the name of the selection, of "row" and "col", that a click makes.

    Raises:
        ValueError: the axes do not fit the matrix.
    """
    if matrix.shape != (len(row_axis), len(col_axis)):
        raise ValueError(f"matrix {matrix.shape} does not fit axes of {len(row_axis)} and {len(col_axis)}")
    ramp = ramp or ramp_for(role, matrix, matrix.shape[1])
    n_rows, n_cols = matrix.shape  # cells are square, but a long thin matrix is widened to tell its columns apart
    height = size if n_rows >= n_cols else max(size * n_rows // n_cols, min(size, 26 * n_rows))
    width = size if n_cols >= n_rows else max(size * n_cols // n_rows, min(size, 26 * n_cols))
    if max(matrix.shape) > MAX_RECT_SIDE:
        return _image_chart(matrix, row_axis, col_axis, ramp, title, marked_row, (width, height), select)
    data = {"cells": cell_columns(matrix, row_axis.labels, col_axis.labels), "bar": layers.bar_data(ramp)}
    if framed:
        data["framed"] = dict(zip(("row", "col"), zip(*framed, strict=True), strict=True))
    if marked_row is not None:
        data["marked"] = {"row": [marked_row]}
    spec = _cells(
        rows=AxisTexts(row_axis.name, tuple(row_axis.labels)),
        columns=AxisTexts(col_axis.name, tuple(col_axis.labels)),
        bar=Bar.of(ramp, title, min(width, 260)),
        font_size=font_size,
        hover_rows=hover_rows,
        is_framed=bool(framed),
        is_marked=marked_row is not None,
        size=(width, height),
        select=select,
    )
    return Chart(spec, data)


def pair_axes(single: Axis) -> tuple[Axis, Axis]:
    """Return the axes of a map of pairs: of the first member down, of the second across; single are its members."""
    first, second = (Axis(f"{member} of the {single.name}", single.labels) for member in ("first", "second"))
    return first, second


@compiled
def _cells(
    rows: AxisTexts,
    columns: AxisTexts,
    bar: Bar,
    font_size: int,
    hover_rows: bool,
    is_framed: bool,
    is_marked: bool,
    size: tuple[int, int],
    select: str | None,
) -> alt.LayerChart:
    width, height = size
    cell_width, cell_height = width / len(columns.labels), height / len(rows.labels)
    x = alt.X("col:O", axis=_label_axis(columns, width))
    y = alt.Y("row:O", axis=_label_axis(rows, height, is_upright=True))
    masked = {"test": "datum.masked", "value": MASKED_COLOUR}
    colour = layers.ramp_colour("value:Q", bar, condition=masked)
    tooltip = _cell_tooltip(rows, columns, bar)
    cells = named("cells").mark_rect(invalid=None).encode(x, y, colour, tooltip=tooltip)
    if hover_rows:
        hovered = alt.selection_point(name="looked", fields=["row"], on="pointerover", clear="pointerout")
        strong = alt.condition(hovered, alt.value(1), alt.value(0.3))
        cells = cells.encode(opacity=strong).properties(name="view_cells").add_params(hovered)
    cells = layers.clickable(cells, select, "row", "col") if select else cells
    drawing = [named("bar").mark_point(**QUIET, opacity=0, size=0), cells]  # Vega knows the data of what is drawn
    letters = font_size / FONT_SIZE
    if cell_width >= MIN_NUMBER_WIDTH * letters and cell_height >= MIN_NUMBER_HEIGHT * letters:
        numbers = named("cells").mark_text(tooltip=None, fontSize=font_size, aria=True)
        numbers = numbers.encode(x, y, alt.Text("value:Q", format=".2f"), color=_contrast(bar))
        drawing.append(numbers.transform_filter("!datum.masked"))
    if is_framed:
        drawing += layers.halo_outlines("framed", CELL, (5, 2.5), ROLE_COLOURS[Role.CONTEXT])
    if is_marked:
        drawing += layers.halo_outlines("marked", {"y": alt.Y("row:O")}, (4, 2), kind="bar", height=cell_height)
    return layers.fixed_size(drawing, width, height, view=VIEW)


def _cell_tooltip(rows: AxisTexts, columns: AxisTexts, bar: Bar) -> list[alt.Tooltip]:
    row_title, column_title = _tooltip_titles(rows, columns)
    return [
        alt.Tooltip("row_label:N", title=row_title),
        alt.Tooltip("col_label:N", title=column_title),
        alt.Tooltip("value:Q", title=bar.title or "value", format=".4g"),
    ]


def _tooltip_titles(rows: AxisTexts, columns: AxisTexts) -> tuple[str, str]:
    """Return what a tooltip calls rows and columns: of two equal titles it would show one."""
    titles = rows.title, columns.title
    return titles if rows.title != columns.title else (f"{rows.title}, row", f"{columns.title}, column")


def _contrast(bar: Bar) -> alt.ColorValue:
    """Return the colour in which a number can be read on its cell."""
    colours = Ramp(bar.colours, 0, 1).lookup(64)
    if colours[:, 3].min() < 255:  # the page's paper shows, and its letters can be read
        return alt.ColorValue(INK_COLOURS[-1])
    share = f"(datum.value - {BAR_LOW}) / max({BAR_HIGH} - {BAR_LOW}, 1e-30)"
    index = f"floor(63 * pow(clamp({share}, 0, 1), {BAR_EXPONENT}))"
    dark = json.dumps(is_dark(colours[:, :3]).astype(int).tolist())
    return alt.ColorValue(condition={"test": f"{dark}[{index}]", "value": "#ffffff"}, value=DARK_COLOUR)


def _label_axis(
    texts: AxisTexts, length: int, *, is_upright: bool = False, position: str = "datum.value", **options: Any
) -> alt.Axis:
    """Return an axis of positions with texts as labels, so that repeated words stay apart; upright where they fit."""
    n, longest = len(texts.labels), max(map(len, texts.labels), default=0)
    every = -(-n // max(1, int(length // 14)))
    fits = is_upright or longest <= 3 or 7 * longest <= every * length / max(n, 1)
    return alt.Axis(
        title=texts.title,
        labelExpr=layers.label_expression(texts.labels, position, every),
        labelAngle=0 if fits else -45,
        labelLimit=90,
        ticks=False,
        domain=False,
        labelOverlap=False,
        **options,
    )


def _image_axis(texts: AxisTexts, length: int, *, is_upright: bool = False) -> alt.Axis:
    if not texts.labels:
        return alt.Axis(grid=False, tickCount=5, format="d")
    middles: dict[str, Any] = {"values": [position + 0.5 for position in range(len(texts.labels))]}
    middles |= {"tickCount": len(texts.labels), "grid": False}
    return _label_axis(texts, length, is_upright=is_upright, position="floor(datum.value)", **middles)


def _image_chart(
    matrix: np.ndarray,
    row_axis: Axis,
    col_axis: Axis,
    ramp: Ramp,
    title: str,
    marked_row: int | None,
    size: tuple[int, int],
    select: str | None,
) -> Chart:
    n_rows, n_cols = matrix.shape
    n_blocks = (n_rows, max(1, MAX_PIECES // n_rows)) if select else (TOOLTIP_BLOCKS, TOOLTIP_BLOCKS)
    data, blocks = {}, _block_columns(matrix, row_axis, col_axis, n_blocks)
    if select and marked_row is not None:  # first, so that the browser shows it as the chart's data
        cells = cell_columns(matrix[[marked_row]], [row_axis.labels[marked_row]], col_axis.labels)
        data["row"] = cells | rectangles(cells["col"], marked_row, row=marked_row)
    data["blocks"] = blocks | ({"row": blocks["top"], "col": blocks["left"]} if select else {})
    data["bar"] = layers.bar_data(ramp)
    data["whole"] = rectangles(0, 0, n_cols, n_rows, url=matrix_png(matrix, ramp))
    if marked_row is not None:  # a frame, or a line where rows are thinner than it
        data["marked"] = {"top": [marked_row], "bottom": [marked_row + 1]}
    rows, columns = (
        AxisTexts(axis.name, () if len(axis) > MAX_RECT_SIDE else tuple(axis.labels)) for axis in (row_axis, col_axis)
    )
    bar = Bar.of(ramp, title, min(size[0], 260))
    return Chart(_image(rows, columns, (n_cols, n_rows), bar, marked_row is not None, size, select), data)


@compiled
def _image(
    rows: AxisTexts,
    columns: AxisTexts,
    cells: tuple[int, int],
    bar: Bar,
    is_marked: bool,
    size: tuple[int, int],
    select: str | None,
) -> alt.LayerChart:
    (width, height), (n_cols, n_rows) = size, cells
    across, down = _image_axis(columns, width), _image_axis(rows, height, is_upright=True)
    x = alt.X("left:Q", title=columns.title, scale=layers.exact_scale(0, n_cols), axis=across)
    y = alt.Y("top:Q", title=rows.title, scale=layers.exact_scale(n_rows, 0), axis=down)
    zoom = alt.selection_interval(name="param_zoom", encodings=["x", "y"], bind="scales")
    image = layers.images("whole", {**CORNERS, "x": x, "y": y}, clip=True)
    number_title = f" {bar.title.lower()}" if bar.title else ""
    row_title, column_title = _tooltip_titles(rows, columns)
    tooltip = [
        alt.Tooltip("rows:N", title=row_title),
        alt.Tooltip("cols:N", title=column_title),
        *(alt.Tooltip(f"{name}:Q", title=f"{name}{number_title}", format=".3g") for name in ("mean", "largest")),
    ]
    blocks = layers.hover_cells("blocks", CORNERS, *tooltip)
    drawing = [
        image.properties(name="view_image").add_params(zoom),
        layers.clickable(blocks, select, "row", "col") if select else blocks,
        layers.bar_layer(bar),
    ]
    if is_marked:
        line = {"y": alt.Y("top:Q"), "y2": alt.Y2("bottom")}
        drawing += layers.halo_outlines("marked", line, (4, 2), clip=True)
    if is_marked and select:
        drawing.append(layers.hover_cells("row", CORNERS, *_cell_tooltip(rows, columns, bar)))
    return layers.fixed_size(drawing, width, height, view=VIEW)


def _block_columns(matrix: np.ndarray, row_axis: Axis, col_axis: Axis, n_blocks: tuple[int, int]) -> Columns:
    """Return the data of the blocks of cells, down and across, in which an image answers the mouse."""
    n_rows, n_cols = factors = tuple(-(-n // blocks) for n, blocks in zip(matrix.shape, n_blocks, strict=True))
    finite = np.where(np.isfinite(matrix), matrix, np.nan)
    largest = reduce_blocks(finite, (n_rows, n_cols), np.fmax)
    counts = reduce_blocks(np.isfinite(matrix).astype(float), (n_rows, n_cols), np.add)
    means = reduce_blocks(np.nan_to_num(finite), (n_rows, n_cols), np.add) / np.maximum(counts, 1)
    indices = np.indices(largest.shape).reshape(2, -1)
    tops_lefts = [factor * index for factor, index in zip(factors, indices, strict=True)]
    sizes = [np.minimum(f, n - first) for f, n, first in zip(factors, matrix.shape, tops_lefts, strict=True)]
    numbers = {"mean": means, "largest": largest}
    columns = {name: values.ravel().round(6).astype(np.float32) for name, values in numbers.items()}
    blocks = rectangles(*tops_lefts[::-1], *sizes[::-1], **columns)
    for name, axis, factor, index in zip(("rows", "cols"), (row_axis, col_axis), factors, indices, strict=True):
        spans = [f"{first + 1} to {min(first + factor, len(axis))}" for first in range(0, len(axis), factor)]
        blocks[name] = np.array(spans if factor > 1 else axis.labels, object)[index]
    return blocks


NO_NUMBERS = 99  # a size of letters for which no cell has room


def guesses_chart(
    values: np.ndarray,
    counts: np.ndarray,
    row_axis: Axis,
    col_axis: Axis,
    role: Role,
    *,
    size: int = 480,
    picture: str = "",
) -> Chart:
    """Draw a matrix (rows, columns), and a circle with a number on each cell that somebody guessed.

    A circle's area is how often its cell was guessed, counts (rows, columns). The picture, its
    address, of which the cells are parts shines through.
    """
    matrix = matrix_chart(values, row_axis, col_axis, role, title="true number", size=size, font_size=NO_NUMBERS)
    rows, columns = np.nonzero(counts)
    guesses = {"row": rows, "col": columns, "guesses": counts[rows, columns]}
    cell = min(matrix.spec["width"] / values.shape[1], matrix.spec["height"] / values.shape[0])
    circles = _guesses(int(counts.max(initial=1)), 0.7 * cell**2, bool(picture))
    spec = matrix.spec | {"layer": [*matrix.spec["layer"], *circles["layer"]]}
    return Chart(spec, {**matrix.data, "guesses": guesses, "picture": {"url": [picture]}})


@compiled
def _guesses(highest: int, largest_area: float, has_picture: bool) -> alt.LayerChart:
    area = alt.Size("guesses:Q", scale=alt.Scale(domain=[0, highest], range=[60, largest_area]), legend=None)
    style: dict[str, Any] = {"color": "white", "opacity": 0.92, "stroke": DARK_COLOUR, "strokeWidth": 1.5}
    circles = named("guesses").mark_circle(**style)
    numbers = named("guesses").mark_text(**QUIET, color=DARK_COLOUR, fontSize=12)
    drawing = [
        circles.encode(**CELL, size=area, tooltip=[alt.Tooltip("guesses:Q", title="guesses")]),
        numbers.encode(**CELL, text=alt.Text("guesses:Q")),
    ]
    if has_picture:
        corners = {"x": alt.value(0), "y": alt.value(0), "x2": alt.value("width"), "y2": alt.value("height")}
        drawing.insert(0, layers.images("picture", corners, blend="multiply", opacity=0.5))
    return alt.LayerChart(layer=drawing)
