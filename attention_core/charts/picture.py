"""Positions that came from an image, drawn as the image: one clickable picture, or a sheet of small ones."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.layers import CORNERS, clickable, corners, fixed, haloed, pointer, sheet
from attention_core.charts.palette import ROLE_COLOURS, Ramp
from attention_core.charts.raster import png_url
from attention_core.charts.scale import colour_bar_layer

TOLD = ["label:N", "lowest:Q", "highest:Q"]
"""What the mouse is told of a picture in a sheet."""


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
) -> alt.LayerChart:
    """Draw a (height, width) picture of one value per position.

    Args:
        values: float (height, width).
        ramp: colours; pictures that are compared share one.
        title: what a value is, for tooltip and colour bar.
        size: screen pixels of the longer side.
        marked: position in reading order to frame in the query's colour, or None.
        select: name of a point selection over positions (field position), or None.
        bar: whether a colour bar stands below.
        outline: float (height, width) ink in [0, 1]; cells above 0.5 get a faint dot, or None.
    """
    height, width = values.shape
    scale = size / max(values.shape)
    whole = pd.DataFrame([{"url": png_url(values, ramp), "left": 0, "right": width, "top": 0, "bottom": height}])
    image = (
        alt.Chart(whole)
        .mark_image(smooth=False, aspect=False, clip=True, aria=False)
        .encode(**corners(width, height), url=alt.Url("url:N"))
    )
    frame_line = alt.Chart(whole).mark_rect(fillOpacity=0, stroke="#8a93a066", aria=False)
    layers = [image, frame_line.encode(**CORNERS)]
    if outline is not None:
        layers.append(_outline(outline))
    if bar:
        layers.append(colour_bar_layer(ramp, title, min(size - 20, 260)))
    if marked is not None:
        layers += _mark(marked, width, scale)
    cells = position_cells(values, select, "value", title=title or "value", format=".4g")
    return fixed([*layers, cells], round(width * scale), round(height * scale))


def position_cells(values: np.ndarray, select: str | None, name: str, **tooltip: str) -> alt.Chart:
    """Return what the mouse meets on a picture, for the top: an invisible cell per position, in reading order.

    Args:
        values: float (height, width).
        select: name of a point selection over positions (field position), or None.
        name: what a value is called.
        tooltip: title and format of a value.
    """
    rows, cols = np.divmod(np.arange(values.size), values.shape[1])
    frame = pd.DataFrame({"position": np.arange(values.size), "row": rows, "column": cols, name: values.ravel()})
    cells = (
        alt.Chart(frame)
        .transform_calculate(left="datum.column", right="datum.column + 1", top="datum.row", bottom="datum.row + 1")
        .mark_rect(opacity=0, **pointer(select))
        .encode(**CORNERS, tooltip=[alt.Tooltip("row:Q"), alt.Tooltip("column:Q"), alt.Tooltip(f"{name}:Q", **tooltip)])
    )
    return clickable(cells, select, "position")


def _outline(ink: np.ndarray) -> alt.Chart:
    rows, cols = np.nonzero(ink > 0.5)
    frame = pd.DataFrame({"left": cols + 0.5, "top": rows + 0.5})
    return (
        alt.Chart(frame)
        .mark_circle(size=4, color="white", opacity=0.7, aria=False, tooltip=None)
        .encode(x=alt.X("left:Q"), y=alt.Y("top:Q"))
    )


def _mark(position: int, width: int, scale: float) -> list[alt.Chart]:
    frame = pd.DataFrame([{"left": position % width + 0.5, "top": position // width + 0.5}])
    base = alt.Chart(frame).encode(x=alt.X("left:Q"), y=alt.Y("top:Q"))
    return _squares(base, (scale + 3) ** 2, (4.5, 2.5))


def _squares(places: alt.Chart, size: float, widths: tuple[float, float]) -> list[alt.Chart]:
    square = {"shape": "square", "filled": False, "size": size, "opacity": 1}
    return haloed(places.mark_point, ROLE_COLOURS[Role.QUERY], widths, **square)


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
) -> alt.LayerChart:
    """Draw many small pictures with a label above each, on one colour scale.

    Args:
        pictures: float (n, height, width).
        labels: n texts.
        ramp: colours.
        title: of the colour bar.
        columns: pictures in a row.
        size: screen pixels of the longer side of one picture.
        marked: position in reading order to mark in each, or None.
        chosen: number of the picture to frame, or None.
        select: name of a point selection over the pictures (field number), or None.
    """
    n, height, width = pictures.shape
    scale = size / max(height, width)
    places, total_width, total_height = sheet(n, columns, round(width * scale), round(height * scale), 8, 16)
    told = places.assign(label=labels, lowest=pictures.min((1, 2)).round(4), highest=pictures.max((1, 2)).round(4))
    frame = told.assign(url=[png_url(one, ramp) for one in pictures])
    space = corners(total_width, total_height)
    base = alt.Chart(frame)
    images = base.mark_image(smooth=False, aspect=False, aria=False).encode(**space, url=alt.Url("url:N"), tooltip=TOLD)
    names = base.mark_text(align="left", baseline="bottom", dy=-3, fontSize=10, color="#747b86", aria=False).encode(
        x=space["x"], y=space["y"], text=alt.Text("label:N")
    )
    layers = [images, names, colour_bar_layer(ramp, title, min(total_width - 20, 260))]
    if marked is not None:
        frame["mark_x"] = frame["left"] + (marked % width + 0.5) * scale
        frame["mark_y"] = frame["top"] + (marked // width + 0.5) * scale
        spots = alt.Chart(frame[["mark_x", "mark_y"]]).encode(x=alt.X("mark_x:Q"), y=alt.Y("mark_y:Q"))
        layers += _squares(spots, 30, (3.5, 2))
    if chosen is not None or select:
        layers.append(_edges(told, chosen, select))
    return fixed(layers, total_width, total_height)


def _edges(frame: pd.DataFrame, chosen: int | None, select: str | None) -> alt.Chart:
    """Return a frame around every picture, which meets the mouse; the chosen one's is strong."""
    is_chosen = f"datum.number == {-1 if chosen is None else chosen}"
    edges = (
        alt.Chart(frame)
        .mark_rect(fillOpacity=0, **pointer(select))
        .encode(
            **CORNERS,  # no second axis=None after the marks' axis: Vega-Lite stumbles over it
            stroke=alt.condition(is_chosen, alt.value(ROLE_COLOURS[Role.QUERY]), alt.value("#8a93a066")),
            strokeWidth=alt.condition(is_chosen, alt.value(3), alt.value(1)),
            tooltip=TOLD,
        )
    )
    return clickable(edges, select, "number")
