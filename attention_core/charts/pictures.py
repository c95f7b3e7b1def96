"""Numbers of the positions of a picture, drawn as pictures: one, or a sheet of small ones."""

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from attention_core.charts import layers
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import Columns, grid_layout, rectangles
from attention_core.charts.layers import CORNERS, EDGE, MIDDLE, QUIET, Bar, named
from attention_core.charts.png import matrix_png
from attention_core.charts.ramps import GREY, LABEL_COLOUR, Ramp


def picture(
    values: np.ndarray,
    ramp: Ramp,
    *,
    title: str = "",
    size: int = 200,
    marked: int | None = None,
    bar: bool = True,
    outline: np.ndarray | None = None,
) -> Chart:
    """Draw a picture of one value per position, (height, width), whose longer side has so many screen pixels.

    Pictures that are compared share a ramp; the title says what a value is. The marked position, in reading order, is
    framed; where the outline, ink (height, width) in [0, 1], is above 0.5, there is a faint dot.
    """
    height, width = values.shape
    scale = size / max(values.shape)
    data = {"image": rectangles(0, 0, width, height, url=matrix_png(values, ramp))}
    data |= position_data(values, name := title or "value")
    if outline is not None:
        rows, columns = np.nonzero(outline > 0.5)
        data["dots"] = {"left": columns + 0.5, "top": rows + 0.5}
    if bar:
        data["bar"] = layers.bar_data(ramp)
    if marked is not None:
        data["marked"] = {"left": [marked % width + 0.5], "top": [marked // width + 0.5]}
    spec = _picture(
        cells=(width, height),
        bar=Bar.of(ramp, title, min(size - 20, 260)) if bar else None,
        is_outlined=outline is not None,
        frame=None if marked is None else (scale + 3) ** 2,
        tooltip=position_tooltip(name, ".4g"),
        size=(round(width * scale), round(height * scale)),
    )
    return Chart(spec, data)


@compiled
def _picture(
    cells: tuple[int, int],
    bar: Bar | None,
    is_outlined: bool,
    frame: float | None,
    tooltip: str,
    size: tuple[int, int],
) -> alt.LayerChart:
    image = layers.images("image", layers.corners(*cells), clip=True)
    drawing = [image, named("image").mark_rect(**EDGE).encode(**CORNERS)]
    if is_outlined:
        drawing.append(named("dots").mark_circle(**QUIET, color=GREY, size=4, opacity=0.7).encode(**MIDDLE))
    if bar:
        drawing.append(layers.bar_layer(bar))
    if frame:
        drawing += _squares(frame, (4.5, 2.5))
    return layers.fixed_size([*drawing, *position_cells(tooltip)], *size)


def layered_picture(
    pngs: Sequence[bytes],
    shape: tuple[int, int],
    size: tuple[int, int],
    *,
    row_labels: Sequence[str] = (),
    smooth: bool = False,
    marked: int | None = None,
) -> Chart:
    """Draw PNGs over one another, the top one first, over a grid of (rows, columns); width and height on the screen.

    Rows may have labels; the marked cell, in reading order, is framed.
    """
    rows, columns = shape
    urls = {f"layer{number}": content for number, content in enumerate(pngs)}
    data = {"image": rectangles(0, 0, columns, rows, **urls)}
    if marked is not None:
        data["marked"] = rectangles(marked % columns, marked // columns)
    return Chart(_layered_picture(tuple(urls), shape, tuple(row_labels), smooth, marked is not None, size), data)


@compiled
def _layered_picture(
    names: tuple[str, ...],
    shape: tuple[int, int],
    row_labels: tuple[str, ...],
    smooth: bool,
    is_marked: bool,
    size: tuple[int, int],
) -> alt.LayerChart:
    rows, columns = shape
    axis = None
    if row_labels:
        middles = [row + 0.5 for row in range(rows)]
        texts = layers.label_expression(row_labels, "floor(datum.value)")
        axis = alt.Axis(title=None, values=middles, labelExpr=texts, grid=False)
    space = layers.corners(columns, rows, y=alt.Y("top:Q", axis=axis, scale=layers.exact_scale(rows, 0)))
    drawing = [layers.images("image", space, name, clip=True, smooth=smooth) for name in reversed(names)]
    drawing.append(named("image").mark_rect(**EDGE).encode(**space))
    if is_marked:
        drawing.append(layers.outlined("marked", CORNERS, 2))
    return layers.fixed_size(drawing, *size)


def position_data(values: np.ndarray, name: str) -> dict[str, Columns]:
    """Return the data of what the mouse meets on a picture (height, width), in reading order; the name is a value's."""
    rows, columns = np.divmod(np.arange(values.size), values.shape[1])
    cells = {"position": np.arange(values.size), "row": rows + 1, "column": columns + 1}
    return {"cells": cells, "numbers": {name: values.ravel()}}


def position_tooltip(name: str, form: str) -> str:
    """Return the expression of a position's tooltip: a value under its name, in its format."""
    number = f"format(data('numbers')[datum.position][{json.dumps(name)}], '{form}')"
    return f"{{row: datum.row, column: datum.column, {json.dumps(name)}: {number}}}"


def position_cells(tooltip: str) -> list[alt.Chart]:
    """Return what the mouse meets on a picture, for the top: an invisible cell per position in it."""
    sides = {"left": "datum.column - 1", "right": "datum.column", "top": "datum.row - 1", "bottom": "datum.row"}
    cells = named("cells").mark_rect(opacity=0, aria=False, tooltip=alt.ExprRef(tooltip)).encode(**CORNERS)
    numbers = named("numbers").mark_point(**QUIET, opacity=0, size=0)
    counts = numbers.transform_aggregate(n="count()")  # Vega knows the data of what is drawn
    return [counts, cells.transform_calculate(**sides)]


def _squares(size: float, widths: tuple[float, float]) -> list[alt.Chart]:
    style: dict[str, Any] = {"kind": "point", "shape": "square", "filled": False, "size": size, "opacity": 1}
    return layers.halo_outlines("marked", MIDDLE, widths, **style)


def contact_sheet(
    pictures: np.ndarray,
    labels: Sequence[str],
    ramp: Ramp,
    *,
    title: str = "",
    columns: int = 8,
    size: int = 72,
    marked: int | None = None,
) -> Chart:
    """Draw small pictures (n, height, width) with a label above each, on one colour scale, so many in a row.

    Marked is a position in each, in reading order.
    """
    n, height, width = pictures.shape
    scale = size / max(height, width)
    frames, total_width, total_height = grid_layout(n, columns, round(width * scale), round(height * scale), 8, 16)
    lowest, highest = pictures.min((1, 2)).round(4), pictures.max((1, 2)).round(4)
    urls = [matrix_png(picture, ramp) for picture in pictures]
    sheet = {**frames, "label": labels, "lowest": lowest, "highest": highest, "url": urls}
    data = {"pictures": sheet, "bar": layers.bar_data(ramp)}
    if marked is not None:
        x, y = frames["left"] + (marked % width + 0.5) * scale, frames["top"] + (marked // width + 0.5) * scale
        data["marked"] = {"left": x, "top": y}
    bar = Bar.of(ramp, title, min(total_width - 20, 260))
    return Chart(_contact_sheet(bar, marked is not None, total_width, total_height), data)


@compiled
def _contact_sheet(bar: Bar, is_framed: bool, width: int, height: int) -> alt.LayerChart:
    space = layers.corners(width, height)
    tooltip = [alt.Tooltip(name) for name in ("label:N", "lowest:Q", "highest:Q")]
    style: dict[str, Any] = {"align": "left", "baseline": "bottom", "dy": -3, "fontSize": 10, "color": LABEL_COLOUR}
    drawing = [
        layers.images("pictures", space).encode(tooltip=tooltip),
        named("pictures").mark_rect(**EDGE).encode(**space),
        layers.texts("pictures", space, "label", **style),
        layers.bar_layer(bar),
    ]
    return layers.fixed_size([*drawing, *(_squares(30, (3.5, 2)) if is_framed else [])], width, height)
