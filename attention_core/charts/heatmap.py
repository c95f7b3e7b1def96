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

import numpy as np
from PIL import Image

from attention_core.attention.types import Axis, Role, Step
from attention_core.charts import vega as vl
from attention_core.charts.bars import probability_bars
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
MASKED_COLOUR = (154, 161, 170, 85)  # red, green, blue, opacity of a masked cell, as small matrices have it


def cached_by_content(make: Callable[..., bytes]) -> Callable[..., bytes]:
    """Cache what a function returns for an array, its first argument, by the numbers in the array."""
    pictures = BoundedCache(max_items=MAX_KEPT)

    @wraps(make)
    def cached(array: np.ndarray, *rest: Any) -> bytes:
        key = array.shape, array.dtype.str, hashlib.sha1(np.ascontiguousarray(array)).digest(), rest
        kept = pictures.get(key)
        if kept is not None:
            return kept.value
        content = make(array, *rest)
        pictures.put(key, content)
        return content

    return cached


@cached_by_content
def matrix_png(matrix: np.ndarray, ramp: vl.Ramp) -> bytes:
    """Return a matrix as a palette PNG, one pixel a cell; -inf or NaN = masked, translucent grey."""
    cells = reduce_by_max(matrix)
    shares = np.where(np.isfinite(cells), ramp.position(cells), np.nan)
    return palette_png(shares, ramp, MAX_BYTES)


def palette_png(shares: np.ndarray, ramp: vl.Ramp, most_bytes: int, between: np.ndarray | None = None) -> bytes:
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


def _palette_png(shares: np.ndarray, ramp: vl.Ramp, n_colours: int) -> bytes:
    """Return a picture in so many colours of the ramp; NaN = masked, infinite = clear."""
    index: np.ndarray = np.full(shares.shape, n_colours, np.uint8)
    there = np.isfinite(shares)
    index[there] = np.rint(shares[there] * (n_colours - 1))
    index[np.isinf(shares)] = min(n_colours + 1, 255)
    beyond = [MASKED_COLOUR, (0, 0, 0, 0)][: 256 - n_colours]
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


TOLD = "label:N", "lowest:Q", "highest:Q"  # what the mouse is told of a picture in a sheet
MIDDLE = {"x": vl.CORNERS["x"], "y": vl.CORNERS["y"]}


def picture(
    values: np.ndarray,
    ramp: vl.Ramp,
    *,
    title: str = "",
    size: int = 200,
    marked: int | None = None,
    bar: bool = True,
    outline: np.ndarray | None = None,
) -> vl.Chart:
    """Draw a picture of one value per position, (height, width), whose longer side has so many screen pixels.

    Pictures that are compared share a ramp; the title says what a value is. The marked position, in reading order, is
    framed; where the outline, ink (height, width) in [0, 1], is above 0.5, there is a faint dot.
    """
    height, width = values.shape
    scale = size / max(values.shape)
    whole = vl.rectangles(0, 0, width, height, url=matrix_png(values, ramp))
    image = vl.images(whole, vl.corners(width, height), clip=True)
    layers = [image, vl.mark("rect", whole, vl.CORNERS, **vl.EDGE)]
    if outline is not None:
        rows, cols = np.nonzero(outline > 0.5)
        dots = {"left": cols + 0.5, "top": rows + 0.5}
        layers.append(vl.mark("circle", dots, MIDDLE, color=vl.GREY, size=4, opacity=0.7))
    if bar:
        layers.append(vl.colour_bar_layer(ramp, title, min(size - 20, 260)))
    if marked is not None:
        place = {"left": [marked % width + 0.5], "top": [marked // width + 0.5]}
        layers += _squares(place, (scale + 3) ** 2, (4.5, 2.5))
    cells = position_cells(values, title or "value", ".4g")
    return vl.fixed_size([*layers, *cells], round(width * scale), round(height * scale))


def position_cells(values: np.ndarray, name: str, form: str) -> list[vl.Chart]:
    """Return what the mouse meets on a picture (height, width), for the top: an invisible cell per position in it.

    Cells are in reading order; a value is told under its name, in its format.
    """
    rows, cols = np.divmod(np.arange(values.size), values.shape[1])
    frame = {"position": np.arange(values.size), "row": rows + 1, "column": cols + 1}
    sides = {"left": "datum.column - 1", "right": "datum.column", "top": "datum.row - 1", "bottom": "datum.row"}
    number = f"format(data('numbers')[datum.position][{json.dumps(name)}], '{form}')"
    told = f"{{row: datum.row, column: datum.column, {json.dumps(name)}: {number}}}"
    cells = vl.mark("rect", frame, vl.CORNERS, opacity=0, aria=False, tooltip={"expr": told})
    cells = cells.properties(transform=[{"calculate": how, "as": side} for side, how in sides.items()])
    numbers = vl.mark("point", vl.NamedData("numbers", **{name: values.ravel()}), {}, opacity=0, size=0)
    numbers = numbers.properties(transform=[{"aggregate": [{"op": "count", "as": "n"}]}])  # Vega knows what is drawn
    return [numbers, cells]


def _squares(data: vl.Data, size: float, widths: tuple[float, float]) -> list[vl.Chart]:
    return vl.halo_outlines(data, MIDDLE, widths, kind="point", shape="square", filled=False, size=size, opacity=1)


def contact_sheet(
    pictures: np.ndarray,
    labels: Sequence[str],
    ramp: vl.Ramp,
    *,
    title: str = "",
    columns: int = 8,
    size: int = 72,
    marked: int | None = None,
) -> vl.Chart:
    """Draw small pictures (n, height, width) with a label above each, on one colour scale, so many in a row.

    Marked is a position in each, in reading order.
    """
    n, height, width = pictures.shape
    scale = size / max(height, width)
    places, total_width, total_height = vl.grid_layout(n, columns, round(width * scale), round(height * scale), 8, 16)
    lowest, highest = pictures.min((1, 2)).round(4), pictures.max((1, 2)).round(4)
    known = {**places, "label": labels, "lowest": lowest, "highest": highest}
    frame = known | {"url": [matrix_png(picture, ramp) for picture in pictures]}
    space = vl.corners(total_width, total_height)
    names = vl.texts(frame, space, "label", align="left", baseline="bottom", dy=-3, fontSize=10, color=vl.LABEL_COLOUR)
    bar = vl.colour_bar_layer(ramp, title, min(total_width - 20, 260))
    picture = vl.images(frame, space).encode(tooltip=vl.tooltip_channels(*TOLD))
    layers = [picture, vl.mark("rect", frame, space, **vl.EDGE), names, bar]
    if marked is not None:
        x, y = places["left"] + (marked % width + 0.5) * scale, places["top"] + (marked // width + 0.5) * scale
        layers += _squares({"left": x, "top": y}, 30, (3.5, 2))
    return vl.fixed_size(layers, total_width, total_height)


MAX_RECT_SIDE = 64
"""Matrices with more rows or columns than this are drawn as an image."""
NUMBERS_BELOW = 34  # cells at least this many screen pixels wide and high carry their number
CELL = {"x": vl.field("col:O"), "y": vl.field("row:O")}
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
    ramp: vl.Ramp | None = None,
    font_size: int = 11,
    hover_rows: bool = False,
    framed: Sequence[tuple[int, int]] = (),
) -> vl.Chart:
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
    ramp = ramp or vl.ramp_for(role, matrix, matrix.shape[1])
    n_rows, n_cols = matrix.shape  # cells are square, but a long thin matrix is widened to tell its columns apart
    height = size if n_rows >= n_cols else max(size * n_rows // n_cols, min(size, 26 * n_rows))
    width = size if n_cols >= n_rows else max(size * n_cols // n_rows, min(size, 26 * n_cols))
    large = max(matrix.shape) > MAX_RECT_SIDE
    if large:
        layers = _image_layers(matrix, row_axis, col_axis, ramp, title, width, height)
    else:
        layers = _cells(matrix, row_axis, col_axis, ramp, title, width, height, font_size, hover_rows)
        if framed:
            places = dict(zip(("row", "col"), zip(*framed, strict=True), strict=True))
            layers += vl.halo_outlines(places, CELL, (5, 2.5), vl.ROLE_COLOURS[Role.CONTEXT])
    if marked_row is not None and large:  # a frame, or a line where rows are thinner than it
        ends = {"y": vl.field("top:Q"), "y2": vl.field("bottom")}
        layers += vl.halo_outlines({"top": [marked_row], "bottom": [marked_row + 1]}, ends, (4, 2), clip=True)
    elif marked_row is not None:
        row = {"row": [marked_row]}
        layers += vl.halo_outlines(row, {"y": vl.field("row:O")}, (4, 2), kind="bar", height=height / n_rows)
    return vl.fixed_size(layers, width, height, view={"stroke": vl.FAINT})


def pair_axes(single: Axis) -> tuple[Axis, Axis]:
    """Return the axes of a map of pairs: of the first member down, of the second across; single are its members."""
    first, second = (Axis(f"{place} of the {single.name}", single.labels) for place in ("first", "second"))
    return first, second


def _cells(matrix, row_axis, col_axis, ramp, title, width, height, font_size, hover_rows):
    data = vl.cell_columns(matrix, row_axis.labels, col_axis.labels)
    space = {
        "x": vl.field("col:O", axis=_labelled(col_axis, width)),
        "y": vl.field("row:O", axis=_labelled(row_axis, height, upright=True)),
    }
    legend = vl.colour_bar(ramp, title, min(width, 260))
    colour = vl.field("value:Q", scale=vl.colour_scale(ramp), legend=legend)
    known = vl.condition("datum.masked", vl.value(f"{vl.MASKED_GREY}55"), colour)
    tooltip = ("row_label:N", row_axis.name), ("col_label:N", col_axis.name), ("value:Q", title or "value", ".4g")
    cells = vl.mark("rect", data, space, *tooltip, color=known, invalid=None)
    if hover_rows:
        looked = vl.selection_point(name="looked", fields=["row"], on="pointerover", clear="pointerout")
        cells = cells.add_params(looked).encode(opacity=vl.condition(looked, vl.value(1), vl.value(0.3)))
    layers = [cells]
    if width / matrix.shape[1] >= NUMBERS_BELOW * font_size / 11 and height / matrix.shape[0] >= 16 * font_size / 11:
        space["text"] = vl.field("value:Q", format=".2f")
        numbers = vl.mark("text", data, space, color=_contrast(ramp), fontSize=font_size, aria=True)
        layers.append(numbers.properties(transform=[{"filter": "!datum.masked"}]))
    return layers


def _contrast(ramp: vl.Ramp) -> vl.Channel:
    colours = ramp.lookup(64)
    if colours[:, 3].min() < 255:  # the page's paper shows, and its letters can be read
        return vl.value(vl.INK_COLOURS[-1])
    span, low = max(ramp.high - ramp.low, 1e-30), ramp.low
    place = f"floor(63 * pow(clamp((datum.value - {low!r}) / {span!r}, 0, 1), {ramp.exponent!r}))"
    dark = json.dumps(vl.is_dark(colours[:, :3]).astype(int).tolist())
    return vl.condition(f"{dark}[{place}]", vl.value("#ffffff"), vl.value(vl.DARK_COLOUR))


def _labelled(axis: Axis, length: int, upright: bool = False, place: str = "datum.value", **more: Any) -> vl.Spec:
    """Positions on the axis, words in its labels, so that repeated words stay apart; upright where they fit."""
    room = max(1, int(length // 14))
    every = -(-len(axis) // room)
    longest = max(map(len, axis.labels), default=0)
    fits = upright or longest <= 3 or 7 * longest <= every * length / max(len(axis), 1)
    return dict(
        title=axis.name,
        labelExpr=vl.label_expression(axis.labels, place, every),
        labelAngle=0 if fits else -45,
        labelLimit=90,
        ticks=False,
        domain=False,
        labelOverlap=False,
        **more,
    )


def _image_axis(axis: Axis, length: int, upright: bool = False) -> vl.Spec:
    if len(axis) > MAX_RECT_SIDE:
        return dict(grid=False, tickCount=5, format="d")
    middles = [position + 0.5 for position in range(len(axis))]
    return _labelled(axis, length, upright, "floor(datum.value)", values=middles, tickCount=len(axis), grid=False)


def _image_layers(matrix, row_axis, col_axis, ramp, title, width, height):
    n_rows, n_cols = matrix.shape
    columns, rows = _image_axis(col_axis, width), _image_axis(row_axis, height, upright=True)
    x = vl.field("left:Q", title=col_axis.name, scale=vl.exact_scale(0, n_cols), axis=columns)
    y = vl.field("top:Q", title=row_axis.name, scale=vl.exact_scale(n_rows, 0), axis=rows)
    whole = vl.rectangles(0, 0, n_cols, n_rows, url=matrix_png(matrix, ramp))
    image = vl.images(whole, vl.corners(n_cols, n_rows, x=x, y=y), clip=True).add_params(ZOOM)
    return [image, _tooltip_layer(matrix, row_axis, col_axis, title), vl.colour_bar_layer(ramp, title, min(width, 260))]


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
    columns = {name: one.ravel().round(6).astype(np.float32) for name, one in numbers.items()}
    frame = vl.rectangles(*tops_lefts[::-1], *sizes[::-1], **columns)
    for name, axis, factor, along in zip(("rows", "cols"), (row_axis, col_axis), factors, places, strict=True):
        spans = [f"{first + 1} to {min(first + factor, len(axis))}" for first in range(0, len(axis), factor)]
        frame[name] = np.array(spans if factor > 1 else axis.labels, object)[along]
    values = [(f"{what}:Q", f"{what} {title.lower()}".strip(), ".3g") for what in numbers]
    return vl.hover_cells(frame, vl.CORNERS, ("rows:N", row_axis.name), ("cols:N", col_axis.name), *values)


STEP_SIZE = 500


def step_chart(
    step: Step,
    head: int = 0,
    *,
    query: int | None = None,
    column: int | None = None,
    size: int = STEP_SIZE,
    ink: vl.Ramp = vl.INK_RAMP,
    shown: Sequence[int] | None = None,
    framed: Sequence[tuple[int, int]] = (),
    n_keys: int = 0,
    reach: float = 0.0,
    ramp: vl.Ramp | None = None,
) -> vl.Chart:
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
    ramp = ramp or vl.ramp_for(step.role, np.array([largest]) if reach else values, n_keys or len(step.col_axis))
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
) -> vl.Chart:
    """Draw a matrix (rows, columns), and a circle with a number on each cell that somebody guessed.

    A circle's area is how often its cell was guessed, counts (rows, columns). The picture, its
    address, of which the cells are parts shines through.
    """
    matrix = matrix_chart(values, row_axis, col_axis, role, title="true number", size=size, font_size=NO_NUMBERS)
    rows, columns = np.nonzero(counts)
    data = {"row": rows, "col": columns, "guesses": counts[rows, columns]}
    most = int(counts.max(initial=1))
    cell = min(matrix.spec["width"] / values.shape[1], matrix.spec["height"] / values.shape[0])
    area = vl.field("guesses:Q", scale={"domain": [0, most], "range": [60, 0.7 * cell**2]}, legend=None)
    look = dict(color="white", opacity=0.92, stroke=vl.DARK_COLOUR, strokeWidth=1.5)
    circles = vl.mark("circle", data, {**CELL, "size": area}, ("guesses:Q", "guesses"), **look)
    numbers = vl.mark("text", data, {**CELL, "text": vl.field("guesses:Q")}, color=vl.DARK_COLOUR, fontSize=12)
    ends = {"x": vl.value(0), "y": vl.value(0), "x2": vl.value("width"), "y2": vl.value("height")}
    below = [vl.images({"url": [picture]}, ends, blend="multiply", opacity=0.5).spec] if picture else []
    return matrix.properties(layer=[*matrix.spec["layer"], *below, circles.spec, numbers.spec])
