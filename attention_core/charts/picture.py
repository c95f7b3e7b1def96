"""Positions that came from an image, drawn as the image: one clickable picture, or a sheet of small ones."""

from typing import Any

import numpy as np

from attention_core.charts.design import Chart, Data, alt
from attention_core.charts.layers import CORNERS, corners, fixed, rectangles, sheet
from attention_core.charts.marks import EDGE, Line, clickable, haloed, images, mark, mouse_cells, pointer, texts, tips
from attention_core.charts.palette import CHOSEN, FAINT, LABELS, Ramp
from attention_core.charts.raster import png_url
from attention_core.charts.scale import colour_bar_layer

TOLD = "label:N", "lowest:Q", "highest:Q"  # what the mouse is told of a picture in a sheet
MIDDLE = {"x": CORNERS["x"], "y": CORNERS["y"]}


def picture(
    values: np.ndarray,
    ramp: Ramp,
    *,
    title: str = "",
    size: int = 200,
    marked: int | None = None,
    select: str | None = None,
    bar: bool = True,
    outline: np.ndarray | None = None,
) -> Chart:
    """Draw a picture of one value per position, (height, width), whose longer side has so many screen pixels.

    Pictures that are compared share a ramp; the title says what a value is. The marked position, in reading order, is
    framed; where the outline, ink (height, width) in [0, 1], is above 0.5, there is a faint dot; a point selection
    over positions has the field position.
    """
    height, width = values.shape
    scale = size / max(values.shape)
    whole = rectangles(0, 0, width, height, url=png_url(values, ramp))
    image = images(whole, corners(width, height), clip=True)
    layers = [image, mark("rect", whole, CORNERS, **EDGE)]
    if outline is not None:
        layers.append(dots(outline, size=4, opacity=0.7))
    if bar:
        layers.append(colour_bar_layer(ramp, title, min(size - 20, 260)))
    if marked is not None:
        place = {"left": [marked % width + 0.5], "top": [marked // width + 0.5]}
        layers += _squares(place, (scale + 3) ** 2, (4.5, 2.5))
    cells = position_cells(values, select, "value", title or "value", ".4g")
    return fixed([*layers, cells], round(width * scale), round(height * scale))


def position_cells(values: np.ndarray, select: str | None, name: str, *value: str) -> Chart:
    """Return what the mouse meets on a picture (height, width), for the top: an invisible cell per position in it.

    Cells are in reading order and can be selected by their position; a value is told under its name, title and format.
    """
    rows, cols = np.divmod(np.arange(values.size), values.shape[1])
    frame = {"position": np.arange(values.size), "row": rows + 1, "column": cols + 1, name: values.ravel()}
    cells = mouse_cells(
        frame, CORNERS, "row:Q", "column:Q", (f"{name}:Q", *value), **pointer(select)
    ).transform_calculate(left="datum.column - 1", right="datum.column", top="datum.row - 1", bottom="datum.row")
    return clickable(cells, select, "position")


def dots(ink: np.ndarray, across: float = 1, down: float = 1, **style: float) -> Chart:
    """Return a faint dot on every pixel with ink, (height, width) in [0, 1]; a pixel is so wide and so high."""
    rows, cols = np.nonzero(ink > 0.5)
    middles = {"left": (cols + 0.5) * across, "top": (rows + 0.5) * down}
    return mark("circle", middles, MIDDLE, color="white", **style)


def _squares(data: Data, size: float, widths: tuple[float, float]) -> list[Chart]:
    return haloed(data, MIDDLE, widths, kind="point", shape="square", filled=False, size=size, opacity=1)


def contact_sheet(
    pictures: np.ndarray,
    labels: list[str],
    ramp: Ramp,
    *,
    title: str = "",
    columns: int = 8,
    size: int = 72,
    marked: int | None = None,
    chosen: int | None = None,
    select: str | None = None,
) -> Chart:
    """Draw small pictures (n, height, width) with a label above each, on one colour scale, so many in a row.

    Marked is a position in each, in reading order; the chosen picture is framed, and a point selection over pictures
    has the field number.
    """
    n, height, width = pictures.shape
    scale = size / max(height, width)
    places, total_width, total_height = sheet(n, columns, round(width * scale), round(height * scale), 8, 16)
    lowest, highest = pictures.min((1, 2)).round(4), pictures.max((1, 2)).round(4)
    known = {**places, "label": labels, "lowest": lowest, "highest": highest}
    frame = {**known, "url": [png_url(picture, ramp) for picture in pictures]}
    space = corners(total_width, total_height)
    names = texts(frame, space, "label", align="left", baseline="bottom", dy=-3, fontSize=10, color=LABELS)
    bar = colour_bar_layer(ramp, title, min(total_width - 20, 260))
    layers = [images(frame, space).encode(tooltip=tips(*TOLD)), names, bar]
    if marked is not None:
        x, y = places["left"] + (marked % width + 0.5) * scale, places["top"] + (marked // width + 0.5) * scale
        layers += _squares({"left": x, "top": y}, 30, (3.5, 2))
    if chosen is not None or select:
        # CORNERS: Vega-Lite stumbles over a second axis=None after the marks' axis
        is_chosen = f"datum.number == {-1 if chosen is None else chosen}"
        layers.append(edges(known, CORNERS, is_chosen, *TOLD, select=select))
    return fixed(layers, total_width, total_height)


def edges(data: Data, space: dict[str, Any], is_chosen: str, *told: Line, select: str | None) -> Chart:
    """Return a frame around every picture of a sheet, which meets the mouse; the chosen one's is strong."""
    stroke = alt.condition(is_chosen, alt.value(CHOSEN), alt.value(FAINT))
    width = alt.condition(is_chosen, alt.value(3), alt.value(1))
    frames = mark("rect", data, space, *told, stroke=stroke, strokeWidth=width, fillOpacity=0, **pointer(select))
    return clickable(frames, select, "number")
