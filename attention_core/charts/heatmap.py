"""Matrices as charts: cells with numbers when small, one crisp image when large, pictures of positions of a picture.

A matrix of 784 x 784 cells is one 8-bit palette image, which paints at once.
"""

import hashlib
import io
import json
import math
import struct
import zlib
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import altair as alt
import numpy as np
from PIL import Image
from PIL.ImageColor import getcolor

from attention_core.attention.types import Axis, Role, Step
from attention_core.attention.view.colours import MASKED_COLOUR
from attention_core.charts.bars import probability_bars
from attention_core.charts.chart import Chart, LayerChart, per_structure, records
from attention_core.charts.columns import Columns, cell_columns, grid_layout, rectangles
from attention_core.charts.layers import (
    CORNERS,
    EDGE,
    MIDDLE,
    QUIET,
    Space,
    bar_layer,
    bar_of,
    bar_ticks_data,
    corners,
    exact_scale,
    fixed_size,
    halo_outlines,
    hover_cells,
    images,
    label_expression,
    named,
    texts,
)
from attention_core.charts.ramps import (
    DARK_COLOUR,
    FAINT,
    GREY,
    INK_COLOURS,
    INK_RAMP,
    LABEL_COLOUR,
    ROLE_COLOURS,
    Ramp,
    colour_bar,
    colour_scale,
    is_dark,
    ramp_for,
)
from attention_core.concurrency import BoundedCache
from attention_core.device import to_array

MAX_SIDE = 1024
"""Cells along a side of an image; a larger matrix is reduced by whole factors, keeping the largest of each block."""

N_COLOURS = (255, 127, 63, 31)
"""Steps of the ramp; a matrix so rough that its file would be too large gets fewer, which nobody can see in noise."""
MAX_BYTES = 250_000  # a file larger than this gets fewer colours
LEVEL = 1  # how much work goes into making a file small, 1 to 9
ABOVE, PALETTE = 2, 3
"""The PNG format's numbers for lines stored as differences from the line above, and for pictures with a palette."""
MAX_KEPT = 128  # pictures that are kept, since most are drawn again at the next click


def cached_by_content(make: Callable[..., bytes]) -> Callable[..., bytes]:
    """Cache what a function returns for an array, its first argument, by the numbers in the array."""
    pictures = BoundedCache(max_items=MAX_KEPT)

    @wraps(make)
    def cached(array: np.ndarray, *rest: Any) -> bytes:
        key = array.shape, array.dtype.str, hashlib.sha1(np.ascontiguousarray(array).data).digest(), rest
        kept = pictures.get(key)
        if kept is not None:
            return kept.value
        content = make(array, *rest)
        pictures.put(key, content)
        return content

    return cached


@cached_by_content
def matrix_png(matrix: np.ndarray, ramp: Ramp) -> bytes:
    """Return a matrix as a palette PNG, one pixel a cell; -inf or NaN = masked, translucent grey."""
    cells = reduce_by_max(matrix)
    shares = np.where(np.isfinite(cells), ramp.position(cells), np.nan)
    return palette_png(shares, ramp, MAX_BYTES)


def palette_png(shares: np.ndarray, ramp: Ramp, most_bytes: int, between: np.ndarray | None = None) -> bytes:
    """Return a picture as a palette PNG, in fewer colours where its file would be too large.

    Shares, (height, width), say where on the ramp each cell lies, 0 to 1; NaN = masked. What lies between pictures,
    bool (height, width), stays clear.
    """
    if between is not None:
        shares = np.where(between, np.inf, shares)
    content = b""
    for n_colours in N_COLOURS[between is not None :]:  # a place of the 256 is for what is clear
        content = _palette_png(shares, ramp, n_colours)
        if len(content) <= most_bytes:
            break
    return content


def _palette_png(shares: np.ndarray, ramp: Ramp, n_colours: int) -> bytes:
    """Return a picture in so many colours of the ramp; NaN = masked, infinite = clear."""
    index: np.ndarray = np.full(shares.shape, n_colours, np.uint8)
    there = np.isfinite(shares)
    index[there] = np.rint(shares[there] * (n_colours - 1))
    index[np.isinf(shares)] = min(n_colours + 1, 255)
    beyond = [getcolor(MASKED_COLOUR, "RGBA"), (0, 0, 0, 0)][: 256 - n_colours]
    colours = np.vstack([ramp.lookup(n_colours), np.array(beyond, np.uint8)])
    palette, opacity = colours[:, :3].tobytes(), colours[:, 3].tobytes()
    # told by their difference from the one above, lines take half the room
    lines = np.diff(index, axis=0, prepend=np.zeros((1, index.shape[1]), np.uint8))
    raw = np.insert(lines, 0, ABOVE, axis=1).tobytes()
    packers = [zlib.compressobj(LEVEL, strategy=one) for one in (zlib.Z_DEFAULT_STRATEGY, zlib.Z_RLE)]  # one for noise
    pixels = min((packer.compress(raw) + packer.flush() for packer in packers), key=len)
    header = struct.pack(">IIBBBBB", index.shape[1], index.shape[0], 8, PALETTE, 0, 0, 0)
    parts = ((b"IHDR", header), (b"PLTE", palette), (b"tRNS", opacity), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part)) for name, part in parts
    )


def png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=LEVEL)
    return buffer.getvalue()


def reduce_by_max(matrix: np.ndarray) -> np.ndarray:
    """Return the matrix in which blocks of whole cells became their maximum, so that no bright cell gets lost."""
    factor = -(-max(matrix.shape) // MAX_SIDE)
    return matrix if factor == 1 else block(matrix, (factor, factor), np.fmax.reduceat)


def block(matrix: np.ndarray, size: tuple[int, int], reduceat) -> np.ndarray:
    """Reduce blocks of so many rows and columns (fewer at the end) with a ufunc's reduceat."""
    rows = reduceat(matrix, np.arange(0, matrix.shape[0], size[0]), axis=0)
    return reduceat(rows, np.arange(0, matrix.shape[1], size[1]), axis=1)


def picture(
    values: np.ndarray,
    ramp: Ramp,
    *,
    title: str = "",
    size: int = 200,
    marked: int | None = None,
    bar: bool = True,
    outline: np.ndarray | None = None,
) -> LayerChart:
    """Draw a picture of one value per position, (height, width), whose longer side has so many screen pixels.

    Pictures that are compared share a ramp; the title says what a value is. The marked position, in reading order, is
    framed; where the outline, ink (height, width) in [0, 1], is above 0.5, there is a faint dot.
    """
    height, width = values.shape
    scale = size / max(values.shape)
    data = {"whole": rectangles(0, 0, width, height, url=matrix_png(values, ramp))}
    data |= position_data(values, name := title or "value")
    if outline is not None:
        rows, cols = np.nonzero(outline > 0.5)
        data["dots"] = {"left": cols + 0.5, "top": rows + 0.5}
    if bar:
        data["bar"] = bar_ticks_data(ramp)
    if marked is not None:
        data["marked"] = {"left": [marked % width + 0.5], "top": [marked // width + 0.5]}
    return _picture(
        data,
        cells_across=width,
        cells_down=height,
        bar=bar_of(ramp, title, min(size - 20, 260)) if bar else None,
        outlined=outline is not None,
        frame=None if marked is None else (scale + 3) ** 2,
        told=position_told(name, ".4g"),
        width=round(width * scale),
        height=round(height * scale),
    )


@per_structure
def _picture(
    cells_across: int,
    cells_down: int,
    bar: dict[str, Any] | None,
    outlined: bool,
    frame: float | None,
    told: str,
    width: int,
    height: int,
) -> alt.LayerChart:
    space = corners(cells_across, cells_down)
    layers = [images("whole", space, clip=True), named("whole").mark_rect(**EDGE).encode(**CORNERS)]
    if outlined:
        layers.append(named("dots").mark_circle(**QUIET, color=GREY, size=4, opacity=0.7).encode(**MIDDLE))
    if bar:
        layers.append(bar_layer(bar))
    if frame:
        layers += _squares(frame, (4.5, 2.5))
    return fixed_size([*layers, *position_cells(told)], width, height)


def position_data(values: np.ndarray, name: str) -> dict[str, Columns]:
    """Return the data of what the mouse meets on a picture (height, width), in reading order; the name is a value's."""
    rows, cols = np.divmod(np.arange(values.size), values.shape[1])
    cells = {"position": np.arange(values.size), "row": rows + 1, "column": cols + 1}
    return {"cells": cells, "numbers": {name: values.ravel()}}


def position_told(name: str, form: str) -> str:
    """Return the expression of what the mouse is told of a position: a value under its name, in its format."""
    number = f"format(data('numbers')[datum.position][{json.dumps(name)}], '{form}')"
    return f"{{row: datum.row, column: datum.column, {json.dumps(name)}: {number}}}"


def position_cells(told: str) -> list[alt.Chart]:
    """Return what the mouse meets on a picture, for the top: an invisible cell per position in it."""
    sides = {"left": "datum.column - 1", "right": "datum.column", "top": "datum.row - 1", "bottom": "datum.row"}
    cells = named("cells").mark_rect(opacity=0, aria=False, tooltip=alt.ExprRef(told)).encode(**CORNERS)
    numbers = named("numbers").mark_point(**QUIET, opacity=0, size=0)
    counted = numbers.transform_aggregate(n="count()")  # Vega knows what is drawn
    return [counted, cells.transform_calculate(**sides)]


def _squares(size: float, widths: tuple[float, float]) -> list[alt.Chart]:
    return halo_outlines("marked", MIDDLE, widths, kind="point", shape="square", filled=False, size=size, opacity=1)


def contact_sheet(
    pictures: np.ndarray,
    labels: Sequence[str],
    ramp: Ramp,
    *,
    title: str = "",
    columns: int = 8,
    size: int = 72,
    marked: int | None = None,
) -> LayerChart:
    """Draw small pictures (n, height, width) with a label above each, on one colour scale, so many in a row.

    Marked is a position in each, in reading order.
    """
    n, height, width = pictures.shape
    scale = size / max(height, width)
    places, total_width, total_height = grid_layout(n, columns, round(width * scale), round(height * scale), 8, 16)
    lowest, highest = pictures.min((1, 2)).round(4), pictures.max((1, 2)).round(4)
    urls = [matrix_png(picture, ramp) for picture in pictures]
    frame = {**places, "label": labels, "lowest": lowest, "highest": highest, "url": urls}
    data = {"pictures": frame, "bar": bar_ticks_data(ramp)}
    if marked is not None:
        x, y = places["left"] + (marked % width + 0.5) * scale, places["top"] + (marked // width + 0.5) * scale
        data["marked"] = {"left": x, "top": y}
    bar = bar_of(ramp, title, min(total_width - 20, 260))
    return _contact_sheet(data, bar=bar, framed=marked is not None, width=total_width, height=total_height)


@per_structure
def _contact_sheet(bar: dict[str, Any], framed: bool, width: int, height: int) -> alt.LayerChart:
    space = corners(width, height)
    told = [alt.Tooltip(name) for name in ("label:N", "lowest:Q", "highest:Q")]
    look: dict[str, Any] = {"align": "left", "baseline": "bottom", "dy": -3, "fontSize": 10, "color": LABEL_COLOUR}
    layers = [
        images("pictures", space).encode(tooltip=told),
        named("pictures").mark_rect(**EDGE).encode(**space),
        texts("pictures", space, "label", **look),
        bar_layer(bar),
    ]
    return fixed_size([*layers, *(_squares(30, (3.5, 2)) if framed else [])], width, height)


MAX_RECT_SIDE = 64
"""Matrices with more rows or columns than this are drawn as an image."""
NUMBERS_BELOW = 34  # cells at least this many screen pixels wide and high carry their number
CELL: Space = {"x": alt.X("col:O"), "y": alt.Y("row:O")}
TOOLTIP_BLOCKS = 40  # an image answers the mouse in at most this many blocks a side


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
    font_size: int = 11,
    hover_rows: bool = False,
    framed: Sequence[tuple[int, int]] = (),
) -> LayerChart:
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

    Raises:
        ValueError: the axes do not fit the matrix.
    """
    if matrix.shape != (len(row_axis), len(col_axis)):
        raise ValueError(f"matrix {matrix.shape} does not fit axes of {len(row_axis)} and {len(col_axis)}")
    ramp = ramp or ramp_for(role, matrix, matrix.shape[1])
    n_rows, n_cols = matrix.shape  # cells are square, but a long thin matrix is widened to tell its columns apart
    height = size if n_rows >= n_cols else max(size * n_rows // n_cols, min(size, 26 * n_rows))
    width = size if n_cols >= n_rows else max(size * n_cols // n_rows, min(size, 26 * n_cols))
    axes: dict[str, Any] = {"row_axis": row_axis, "col_axis": col_axis, "width": width, "height": height}
    if max(matrix.shape) > MAX_RECT_SIDE:
        return _drawn_image(matrix, ramp, title, marked_row, **axes)
    cell_width, cell_height = width / n_cols, height / n_rows
    has_room = cell_width >= NUMBERS_BELOW * font_size / 11 and cell_height >= 16 * font_size / 11
    data = {"cells": cell_columns(matrix, row_axis.labels, col_axis.labels)}
    if framed:
        data["framed"] = dict(zip(("row", "col"), zip(*framed, strict=True), strict=True))
    if marked_row is not None:
        data["marked"] = {"row": [marked_row]}
    return _cells(
        data,
        columns=_labelled(col_axis, width),
        rows=_labelled(row_axis, height, upright=True),
        row_name=row_axis.name,
        col_name=col_axis.name,
        value_name=title or "value",
        colours=colour_scale(ramp),
        bar=colour_bar(ramp, title, min(width, 260)),
        numbers=_contrast(ramp) if has_room else None,
        font_size=font_size,
        hover_rows=hover_rows,
        framed=bool(framed),
        marked=None if marked_row is None else height / n_rows,
        width=width,
        height=height,
    )


def pair_axes(single: Axis) -> tuple[Axis, Axis]:
    """Return the axes of a map of pairs: of the first member down, of the second across; single are its members."""
    first, second = (Axis(f"{place} of the {single.name}", single.labels) for place in ("first", "second"))
    return first, second


@per_structure
def _cells(
    columns: alt.Axis,
    rows: alt.Axis,
    row_name: str,
    col_name: str,
    value_name: str,
    colours: alt.Scale,
    bar: alt.Legend,
    numbers: dict[str, Any] | None,
    font_size: int,
    hover_rows: bool,
    framed: bool,
    marked: float | None,
    width: int,
    height: int,
) -> alt.LayerChart:
    x, y = alt.X("col:O", axis=columns), alt.Y("row:O", axis=rows)
    masked = {"test": "datum.masked", "value": MASKED_COLOUR}
    colour = alt.Color("value:Q", scale=colours, legend=bar, condition=masked)
    tooltip = [
        alt.Tooltip("row_label:N", title=row_name),
        alt.Tooltip("col_label:N", title=col_name),
        alt.Tooltip("value:Q", title=value_name, format=".4g"),
    ]
    cells = named("cells").mark_rect(invalid=None).encode(x, y, colour, tooltip=tooltip)
    if hover_rows:
        looked = alt.selection_point(name="looked", fields=["row"], on="pointerover", clear="pointerout")
        strong = alt.condition(looked, alt.value(1), alt.value(0.3))
        cells = cells.encode(opacity=strong).properties(name="view_cells").add_params(looked)
    layers = [cells]
    if numbers:
        text = named("cells").mark_text(tooltip=None, fontSize=font_size, aria=True)
        text = text.encode(x, y, alt.Text("value:Q", format=".2f"), color=alt.ColorValue(**numbers))
        layers.append(text.transform_filter("!datum.masked"))
    if framed:
        layers += halo_outlines("framed", CELL, (5, 2.5), ROLE_COLOURS[Role.CONTEXT])
    if marked:
        layers += halo_outlines("marked", {"y": alt.Y("row:O")}, (4, 2), kind="bar", height=marked)
    return fixed_size(layers, width, height, view=alt.ViewBackground(stroke=FAINT))


def _contrast(ramp: Ramp) -> dict[str, Any]:
    """Return the channel of the colour in which a number can be read on its cell."""
    colours = ramp.lookup(64)
    if colours[:, 3].min() < 255:  # the page's paper shows, and its letters can be read
        return {"value": INK_COLOURS[-1]}
    span, low = max(ramp.high - ramp.low, 1e-30), ramp.low
    place = f"floor(63 * pow(clamp((datum.value - {low!r}) / {span!r}, 0, 1), {ramp.exponent!r}))"
    dark = json.dumps(is_dark(colours[:, :3]).astype(int).tolist())
    return {"condition": {"test": f"{dark}[{place}]", "value": "#ffffff"}, "value": DARK_COLOUR}


def _labelled(axis: Axis, length: int, upright: bool = False, place: str = "datum.value", **more: Any) -> alt.Axis:
    """Positions on the axis, words in its labels, so that repeated words stay apart; upright where they fit."""
    room = max(1, int(length // 14))
    every = -(-len(axis) // room)
    longest = max(map(len, axis.labels), default=0)
    fits = upright or longest <= 3 or 7 * longest <= every * length / max(len(axis), 1)
    return alt.Axis(
        title=axis.name,
        labelExpr=label_expression(axis.labels, place, every),
        labelAngle=0 if fits else -45,
        labelLimit=90,
        ticks=False,
        domain=False,
        labelOverlap=False,
        **more,
    )


def _image_axis(axis: Axis, length: int, upright: bool = False) -> alt.Axis:
    if len(axis) > MAX_RECT_SIDE:
        return alt.Axis(grid=False, tickCount=5, format="d")
    middles = [position + 0.5 for position in range(len(axis))]
    return _labelled(axis, length, upright, "floor(datum.value)", values=middles, tickCount=len(axis), grid=False)


def _drawn_image(matrix, ramp, title, marked_row, *, row_axis, col_axis, width, height):
    n_rows, n_cols = matrix.shape
    data = {"whole": rectangles(0, 0, n_cols, n_rows, url=matrix_png(matrix, ramp)), "bar": bar_ticks_data(ramp)}
    data["blocks"] = _blocks(matrix, row_axis, col_axis)
    if marked_row is not None:  # a frame, or a line where rows are thinner than it
        data["marked"] = {"top": [marked_row], "bottom": [marked_row + 1]}
    return _image(
        data,
        n_rows=n_rows,
        n_cols=n_cols,
        columns=_image_axis(col_axis, width),
        rows=_image_axis(row_axis, height, upright=True),
        row_name=row_axis.name,
        col_name=col_axis.name,
        said=f" {title.lower()}" if title else "",
        bar=bar_of(ramp, title, min(width, 260)),
        marked=marked_row is not None,
        width=width,
        height=height,
    )


@per_structure
def _image(
    n_rows: int,
    n_cols: int,
    columns: alt.Axis,
    rows: alt.Axis,
    row_name: str,
    col_name: str,
    said: str,
    bar: dict[str, Any],
    marked: bool,
    width: int,
    height: int,
) -> alt.LayerChart:
    x = alt.X("left:Q", title=col_name, scale=exact_scale(0, n_cols), axis=columns)
    y = alt.Y("top:Q", title=row_name, scale=exact_scale(n_rows, 0), axis=rows)
    zoom = alt.selection_interval(name="param_zoom", encodings=["x", "y"], bind="scales")
    image = images("whole", {**CORNERS, "x": x, "y": y}, clip=True).properties(name="view_image").add_params(zoom)
    tooltip = [
        alt.Tooltip("rows:N", title=row_name),
        alt.Tooltip("cols:N", title=col_name),
        *(alt.Tooltip(f"{number}:Q", title=f"{number}{said}", format=".3g") for number in ("mean", "largest")),
    ]
    layers = [image, hover_cells("blocks", CORNERS, *tooltip), bar_layer(bar)]
    if marked:
        ends = {"y": alt.Y("top:Q"), "y2": alt.Y2("bottom")}
        layers += halo_outlines("marked", ends, (4, 2), clip=True)
    return fixed_size(layers, width, height, view=alt.ViewBackground(stroke=FAINT))


def _blocks(matrix: np.ndarray, row_axis: Axis, col_axis: Axis) -> Columns:
    """Return the data of the blocks of cells in which an image answers the mouse."""
    factors = tuple(-(-n // TOOLTIP_BLOCKS) for n in matrix.shape)
    finite = np.where(np.isfinite(matrix), matrix, np.nan)
    largest = block(finite, factors, np.fmax.reduceat)
    counts = block(np.isfinite(matrix).astype(float), factors, np.add.reduceat)
    means = block(np.nan_to_num(finite), factors, np.add.reduceat) / np.maximum(counts, 1)
    places = np.indices(largest.shape).reshape(2, -1)
    tops_lefts = [factor * along for factor, along in zip(factors, places, strict=True)]
    sizes = [np.minimum(f, n - first) for f, n, first in zip(factors, matrix.shape, tops_lefts, strict=True)]
    numbers = {"mean": means, "largest": largest}
    columns = {name: one.ravel().round(6).astype(np.float32) for name, one in numbers.items()}
    frame = rectangles(*tops_lefts[::-1], *sizes[::-1], **columns)
    for name, axis, factor, along in zip(("rows", "cols"), (row_axis, col_axis), factors, places, strict=True):
        spans = [f"{first + 1} to {min(first + factor, len(axis))}" for first in range(0, len(axis), factor)]
        frame[name] = np.array(spans if factor > 1 else axis.labels, object)[along]
    return frame


STEP_SIZE = 500


def step_chart(
    step: Step,
    head: int = 0,
    *,
    query: int | None = None,
    column: int | None = None,
    size: int = STEP_SIZE,
    ink: Ramp = INK_RAMP,
    shown: Sequence[int] | None = None,
    framed: Sequence[tuple[int, int]] = (),
    n_keys: int = 0,
    reach: float = 0.0,
    ramp: Ramp | None = None,
) -> Chart | LayerChart:
    """Draw a step of a trace: positions of a picture become pictures, classes become bars, all else is a matrix.

    The query is marked, or in pictures of a row the column; the longer side has about so many screen pixels; `ink` is
    the ramp from paper to ink; `shown` are the columns that are drawn, None = all; for `framed` see matrix_chart. Where
    rows and columns are not queries and keys, n_keys says how many keys a query has. A number as large as `reach` has
    the strongest colour where none is larger. A ramp stands in the place of that of the step's role.
    """
    values, title = to_array(step.value(head).float()), step.title.lower()
    grid, is_flat = step.picture
    if step.role == Role.OUTPUT and values.shape[0] == 1:
        return probability_bars({title: values[0]}, list(step.col_axis.labels), height=260).properties(width=size - 60)
    axis, marked = (step.row_axis, column) if is_flat else (step.col_axis, query)
    places = [*(range(len(axis)) if shown is None else shown)]
    if grid:
        values = (values if is_flat else values.T)[places]
    largest = np.abs(values[np.isfinite(values)]).max(initial=reach)
    ramp = ramp or ramp_for(step.role, np.array([largest]) if reach else values, n_keys or len(step.col_axis))
    if grid:
        pictures, beside = values[:, : math.prod(grid)].reshape(-1, *grid), values[:, math.prod(grid) :]
        if len(pictures) == 1:
            ramp, title = (ink, "ink") if step.role == Role.INPUT else (ramp, title)
            return picture(pictures[0], ramp, title=title, size=size - 120, marked=marked)
        columns = 4 if len(pictures) <= 16 else 6 if len(pictures) <= 24 else 8
        side = (size - 10 * columns) // columns
        numbers = [f"  ∅ {number[0]:.2g}" if len(number) else "" for number in beside]
        labels = [f"{axis.labels[place]}{number}" for place, number in zip(places, numbers, strict=True)]
        return contact_sheet(pictures, labels, ramp, title=title, columns=columns, size=side, marked=marked)
    marked = query if len(step.row_axis) > 1 else None
    look: dict[str, Any] = {"marked_row": marked, "framed": framed}
    return matrix_chart(values, step.row_axis, step.col_axis, step.role, title=title, size=size, ramp=ramp, **look)


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
) -> LayerChart:
    """Draw a matrix (rows, columns), and a circle with a number on each cell that somebody guessed.

    A circle's area is how often its cell was guessed, counts (rows, columns). The picture, its
    address, of which the cells are parts shines through.
    """
    matrix = matrix_chart(values, row_axis, col_axis, role, title="true number", size=size, font_size=NO_NUMBERS)
    rows, columns = np.nonzero(counts)
    guesses = {"row": rows, "col": columns, "guesses": counts[rows, columns]}
    datasets = matrix.datasets | {"guesses": records(guesses), "picture": [{"url": picture}]}
    most = int(counts.max(initial=1))
    cell = min(matrix.width / values.shape[1], matrix.height / values.shape[0])
    area = alt.Size("guesses:Q", scale=alt.Scale(domain=[0, most], range=[60, 0.7 * cell**2]), legend=None)
    look: dict[str, Any] = {"color": "white", "opacity": 0.92, "stroke": DARK_COLOUR, "strokeWidth": 1.5}
    told = [alt.Tooltip("guesses:Q", title="guesses")]
    circles = named("guesses").mark_circle(**look).encode(**CELL, size=area, tooltip=told)
    numbers = named("guesses").mark_text(**QUIET, color=DARK_COLOUR, fontSize=12)
    ends = {"x": alt.value(0), "y": alt.value(0), "x2": alt.value("width"), "y2": alt.value("height")}
    below = [images("picture", ends, blend="multiply", opacity=0.5)] if picture else []
    layers = [*matrix.layer, *below, circles, numbers.encode(**CELL, text=alt.Text("guesses:Q"))]
    own = {name: matrix[name] for name in ("data", "width", "height", "autosize", "view")}
    return LayerChart(layer=layers, datasets=datasets, **own)
