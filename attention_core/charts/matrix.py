"""Matrices as charts: cells with numbers when small, one crisp image when large."""

import json
import math
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
from attention_core.charts.ramps import DARK_COLOUR, FAINT, INK_COLOURS, ROLE_COLOURS, Ramp, is_dark, ramp_for

MAX_RECT_SIDE = 64
"""Matrices with more rows or columns than this are drawn as an image."""
MIN_NUMBER_WIDTH, MIN_NUMBER_HEIGHT, FONT_SIZE = 34, 16, 11
"""Screen pixels that a cell needs to carry its number, if the number's letters have this size."""
MIN_CELL_SIDE = 26  # screen pixels of the short side of cells in a long thin matrix
MAX_BAR_LENGTH = 260  # screen pixels of a colour bar
CELL: Space = {"x": alt.X("col:O"), "y": alt.Y("row:O")}
TOOLTIP_BLOCKS = 40  # blocks along each side of an image, at most; each has a tooltip
MAX_ROW_BLOCKS = 1200  # blocks of an image whose rows can be selected, at most; each lies in one row
LABEL_DISTANCE, LETTER_WIDTH = 14, 7  # screen pixels from one label to the next, and of a letter
VIEW = alt.ViewBackground(stroke=FAINT)


class AxisTexts(NamedTuple):
    """The texts of an axis: an Axis in hashable form, for functions that are compiled."""

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
    width: int | None = None,
    marked_row: int | None = None,
    ramp: Ramp | None = None,
    least_number: float | None = None,
    number_texts: Sequence[str] = (),
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
        width: screen pixels, if cells are not square.
        marked_row: the row with a frame.
        ramp: the colours.
        least_number: smaller ones are not written.
        number_texts: how the numbers are written, row by row; () = with two digits.
        font_size: of the numbers in the cells.
        hover_rows: whether the row under the mouse stands out.
        framed: cells (row, column) with frames in the context's colour.
        select: the name of the selection that a click makes, which has the fields "row" and "col".

    Raises:
        ValueError: the axes do not fit the matrix, or it is empty.
    """
    if matrix.shape != (len(row_axis), len(col_axis)):
        raise ValueError(f"matrix {matrix.shape} does not fit axes of {len(row_axis)} and {len(col_axis)}")
    if not matrix.size:
        raise ValueError(f"matrix must have a cell, got {matrix.shape}")
    ramp = ramp or ramp_for(role, matrix, matrix.shape[1])
    n_rows, n_cols = matrix.shape  # cells are square, but wider in a long thin matrix, to tell its columns apart
    height = size if n_rows >= n_cols else max(size * n_rows // n_cols, min(size, MIN_CELL_SIDE * n_rows))
    width = width or (size if n_cols >= n_rows else max(size * n_cols // n_rows, min(size, MIN_CELL_SIDE * n_cols)))
    if max(matrix.shape) > MAX_RECT_SIDE:
        return _image_chart(matrix, row_axis, col_axis, ramp, title, marked_row, (width, height), select)
    data = {"cells": cell_columns(matrix, row_axis.labels, col_axis.labels), "bar": layers.bar_data(ramp)}
    if number_texts:
        data["cells"] |= {"text": list(number_texts)}
    if framed:
        data["framed"] = dict(zip(("row", "col"), zip(*framed, strict=True), strict=True))
    if marked_row is not None:
        data["marked"] = {"row": [marked_row]}
    spec = _cells(
        rows=AxisTexts(row_axis.name, tuple(row_axis.labels)),
        columns=AxisTexts(col_axis.name, tuple(col_axis.labels)),
        bar=Bar.of(ramp, title, min(width, MAX_BAR_LENGTH)),
        font_size=font_size,
        hover_rows=hover_rows,
        is_framed=bool(framed),
        is_marked=marked_row is not None,
        size=(width, height),
        select=select,
        least_number=least_number,
        number="text:N" if number_texts else "value:Q",
    )
    return Chart(spec, data)


def pair_axes(members: Axis) -> tuple[Axis, Axis]:
    """Return the row and column axis of a matrix of pairs: their first members down, their second ones across."""
    first, second = (Axis(f"{ordinal} of the {members.name}", members.labels) for ordinal in ("first", "second"))
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
    least_number: float | None,
    number: str,
) -> alt.LayerChart:
    width, height = size
    cell_width, cell_height = width / len(columns.labels), height / len(rows.labels)
    x = alt.X("col:O", axis=_label_axis(columns, width))
    y = alt.Y("row:O", axis=_label_axis(rows, height, is_upright=True))
    masked = {"test": "datum.masked", "value": MASKED_COLOUR}
    colour = layers.ramp_colour("value:Q", bar, condition=masked)
    number_format: dict[str, Any] = {} if number == "text:N" else {"format": ".2f"}
    tooltip = _cell_tooltip(rows, columns, bar, number)
    cells = named("cells").mark_rect(invalid=None).encode(x, y, colour, tooltip=tooltip)
    if hover_rows:
        hovered = alt.selection_point(name="hovered_row", fields=["row"], on="pointerover", clear="pointerout")
        opacity = alt.condition(hovered, alt.value(1), alt.value(0.3))
        cells = cells.encode(opacity=opacity).properties(name="view_cells").add_params(hovered)
    cells = layers.clickable(cells, select, "row", "col") if select else cells
    drawing = [named("bar").mark_point(**QUIET, opacity=0, size=0), cells]  # so that expressions find the data "bar"
    enlargement = font_size / FONT_SIZE
    if cell_width >= MIN_NUMBER_WIDTH * enlargement and cell_height >= MIN_NUMBER_HEIGHT * enlargement:
        numbers = named("cells").mark_text(tooltip=None, fontSize=font_size, aria=True)
        numbers = numbers.encode(x, y, alt.Text(number, **number_format), color=_number_colour(bar))
        is_large = "" if least_number is None else f" && datum.value >= {least_number}"
        drawing.append(numbers.transform_filter(f"!datum.masked{is_large}"))
    if is_framed:
        drawing += layers.halo_outlines("framed", CELL, (5, 2.5), ROLE_COLOURS[Role.CONTEXT])
    if is_marked:
        drawing += layers.halo_outlines("marked", {"y": alt.Y("row:O")}, (4, 2), kind="bar", height=cell_height)
    return layers.fixed_size(drawing, width, height, view=VIEW)


def _cell_tooltip(rows: AxisTexts, columns: AxisTexts, bar: Bar, number: str = "value:Q") -> list[alt.Tooltip]:
    row_title, column_title = _tooltip_titles(rows, columns)
    number_format: dict[str, Any] = {} if number == "text:N" else {"format": ".4g"}
    return [
        alt.Tooltip("row_label:N", title=row_title),
        alt.Tooltip("col_label:N", title=column_title),
        alt.Tooltip(number, title=bar.title or "value", **number_format),
    ]


def _tooltip_titles(rows: AxisTexts, columns: AxisTexts) -> tuple[str, str]:
    """Return the titles of rows and columns in a tooltip; equal ones get a suffix, as Vega would show only one."""
    titles = rows.title, columns.title
    return titles if rows.title != columns.title else (f"{rows.title}, row", f"{columns.title}, column")


def _number_colour(bar: Bar) -> alt.ColorValue:
    """Return the colour in which a number can be read on its cell: white where the bar's colour there is dark."""
    colours = Ramp(bar.colours, 0, 1).lookup(64)
    if colours[:, 3].min() < 255:  # the page shows through the cells: the colour of its letters can be read on them
        return alt.ColorValue(INK_COLOURS[-1])
    fraction = f"(datum.value - {BAR_LOW}) / max({BAR_HIGH} - {BAR_LOW}, 1e-30)"
    index = f"floor({len(colours) - 1} * pow(clamp({fraction}, 0, 1), {BAR_EXPONENT}))"
    are_dark = json.dumps(is_dark(colours[:, :3]).astype(int).tolist())
    return alt.ColorValue(condition={"test": f"{are_dark}[{index}]", "value": "#ffffff"}, value=DARK_COLOUR)


def _label_axis(
    texts: AxisTexts, length: int, *, is_upright: bool = False, position: str = "datum.value", **options: Any
) -> alt.Axis:
    """Return an axis of positions labelled with texts, so that equal ones stay apart; slanted where too long."""
    n, longest = len(texts.labels), max(map(len, texts.labels), default=0)
    interval = math.ceil(n / max(1, length // LABEL_DISTANCE))  # from one position with a label to the next
    fits = is_upright or longest <= 3 or LETTER_WIDTH * longest <= interval * length / max(n, 1)
    return alt.Axis(
        title=texts.title,
        labelExpr=layers.label_expression(texts.labels, position, interval),
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
    tick_options: dict[str, Any] = {"values": [position + 0.5 for position in range(len(texts.labels))]}
    tick_options |= {"tickCount": len(texts.labels), "grid": False}
    return _label_axis(texts, length, is_upright=is_upright, position="floor(datum.value)", **tick_options)


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
    n_blocks = (n_rows, max(1, MAX_ROW_BLOCKS // n_rows)) if select else (TOOLTIP_BLOCKS, TOOLTIP_BLOCKS)
    data, blocks = {}, _block_columns(matrix, row_axis, col_axis, n_blocks)
    if select and marked_row is not None:  # first, so that the browser shows it as the chart's data
        cells = cell_columns(matrix[[marked_row]], [row_axis.labels[marked_row]], col_axis.labels)
        data["row"] = cells | rectangles(cells["col"], marked_row, row=marked_row)
    data["blocks"] = blocks | ({"row": blocks["top"], "col": blocks["left"]} if select else {})
    data["bar"] = layers.bar_data(ramp)
    data["image"] = rectangles(0, 0, n_cols, n_rows, url=matrix_png(matrix, ramp))
    if marked_row is not None:  # a frame, or a line where rows are thinner than it
        data["marked"] = {"top": [marked_row], "bottom": [marked_row + 1]}
    rows, columns = (
        AxisTexts(axis.name, () if len(axis) > MAX_RECT_SIDE else tuple(axis.labels)) for axis in (row_axis, col_axis)
    )
    bar = Bar.of(ramp, title, min(size[0], MAX_BAR_LENGTH))
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
    image = layers.images("image", {**CORNERS, "x": x, "y": y}, clip=True)
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
    """Return at most n_blocks (down, across) rectangles, each with the mean and the largest of its numbers."""
    block_rows, block_cols = (math.ceil(n / blocks) for n, blocks in zip(matrix.shape, n_blocks, strict=True))
    finite = np.where(np.isfinite(matrix), matrix, np.nan)
    largest = reduce_blocks(finite, (block_rows, block_cols), np.fmax)
    counts = reduce_blocks(np.isfinite(matrix).astype(float), (block_rows, block_cols), np.add)
    means = reduce_blocks(np.nan_to_num(finite), (block_rows, block_cols), np.add) / np.maximum(counts, 1)
    rows, cols = np.indices(largest.shape).reshape(2, -1)
    tops, lefts = block_rows * rows, block_cols * cols
    heights, widths = np.minimum(block_rows, matrix.shape[0] - tops), np.minimum(block_cols, matrix.shape[1] - lefts)
    numbers = {"mean": means, "largest": largest}
    columns = {name: values.ravel().round(6).astype(np.float32) for name, values in numbers.items()}
    blocks = rectangles(lefts, tops, widths, heights, **columns)
    for name, axis, n, index in (("rows", row_axis, block_rows, rows), ("cols", col_axis, block_cols, cols)):
        ranges = [f"{first + 1} to {min(first + n, len(axis))}" for first in range(0, len(axis), n)]
        blocks[name] = np.array(ranges if n > 1 else axis.labels, object)[index]
    return blocks
