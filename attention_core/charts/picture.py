"""Positions that came from an image, drawn as the image: one clickable picture, or a sheet of small ones."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.palette import ROLE_COLOURS, Ramp
from attention_core.charts.raster import png_url
from attention_core.charts.scale import colour_bar_layer, fixed


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
    rows, cols = np.divmod(np.arange(height * width), width)
    x = alt.X("left:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False))
    y = alt.Y("top:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))
    whole = pd.DataFrame([{"url": png_url(values, ramp), "left": 0, "right": width, "top": 0, "bottom": height}])
    image = (
        alt.Chart(whole)
        .mark_image(smooth=False, aspect=False, clip=True, aria=False)
        .encode(x=x, x2=alt.X2("right"), y=y, y2=alt.Y2("bottom"), url=alt.Url("url:N"))
    )
    frame_line = alt.Chart(whole).mark_rect(fillOpacity=0, stroke="#8a93a066", aria=False)
    layers = [image, frame_line.encode(x=alt.X("left:Q"), x2=alt.X2("right"), y=alt.Y("top:Q"), y2=alt.Y2("bottom"))]
    if outline is not None:
        layers.append(_outline(outline))
    if bar:
        layers.append(colour_bar_layer(ramp, title, min(size - 20, 260)))
    if marked is not None:
        layers += _mark(marked, width, scale)
    frame = pd.DataFrame({"position": np.arange(height * width), "row": rows, "column": cols, "value": values.ravel()})
    cells = (  # on top and invisible: what the mouse meets
        alt.Chart(frame)
        .transform_calculate(left="datum.column", right="datum.column + 1", top="datum.row", bottom="datum.row + 1")
        .mark_rect(opacity=0, cursor="pointer" if select else "default", aria=False)
        .encode(
            x=alt.X("left:Q"),
            x2=alt.X2("right:Q"),
            y=alt.Y("top:Q"),
            y2=alt.Y2("bottom:Q"),
            tooltip=[
                alt.Tooltip("row:Q"),
                alt.Tooltip("column:Q"),
                alt.Tooltip("value:Q", title=title or "value", format=".4g"),
            ],
        )
    )
    if select:
        cells = cells.add_params(
            alt.selection_point(name=select, fields=["position"], on="click", empty=False, clear=False)
        )
    return fixed(alt.layer(*layers, cells), round(width * scale), round(height * scale))


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
    side = scale + 3
    square = {"shape": "square", "filled": False, "aria": False, "opacity": 1}
    return [
        base.mark_point(**square, size=side**2, stroke="white", strokeWidth=4.5),
        base.mark_point(**square, size=side**2, stroke=ROLE_COLOURS[Role.QUERY], strokeWidth=2.5),
    ]


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
    gap, head, scale = 8, 16, size / max(height, width)
    wide, high = round(width * scale), round(height * scale)
    across, down = min(columns, n), -(-n // columns)
    left = np.arange(n) % columns * (wide + gap)
    top = np.arange(n) // columns * (high + gap + head) + head
    frame = pd.DataFrame(
        {
            "url": [png_url(one, ramp) for one in pictures],
            "number": np.arange(n),
            "label": labels,
            "left": left,
            "right": left + wide,
            "top": top,
            "bottom": top + high,
            "lowest": pictures.min((1, 2)).round(4),
            "highest": pictures.max((1, 2)).round(4),
        }
    )
    total_width, total_height = across * (wide + gap) - gap, down * (high + gap + head) - gap
    x = alt.X("left:Q", axis=None, scale=alt.Scale(domain=[0, total_width], nice=False))
    y = alt.Y("top:Q", axis=None, scale=alt.Scale(domain=[total_height, 0], nice=False))
    base = alt.Chart(frame).encode(x=x, y=y)
    images = base.mark_image(smooth=False, aspect=False, aria=False).encode(
        x2=alt.X2("right"),
        y2=alt.Y2("bottom"),
        url=alt.Url("url:N"),
        tooltip=[alt.Tooltip("label:N"), alt.Tooltip("lowest:Q"), alt.Tooltip("highest:Q")],
    )
    names = base.mark_text(align="left", baseline="bottom", dy=-3, fontSize=10, color="#747b86", aria=False).encode(
        text=alt.Text("label:N")
    )
    layers = [images, names, colour_bar_layer(ramp, title, min(total_width - 20, 260))]
    if marked is not None:
        frame["mark_x"] = left + (marked % width + 0.5) * scale
        frame["mark_y"] = top + (marked // width + 0.5) * scale
        spots = alt.Chart(frame[["mark_x", "mark_y"]]).encode(x=alt.X("mark_x:Q"), y=alt.Y("mark_y:Q"))
        dot = {"shape": "square", "filled": False, "size": 30, "aria": False, "opacity": 1}
        layers += [
            spots.mark_point(**dot, stroke="white", strokeWidth=3.5),
            spots.mark_point(**dot, stroke=ROLE_COLOURS[Role.QUERY], strokeWidth=2),
        ]
    if chosen is not None or select:
        layers.append(_edges(frame, chosen, select))
    return fixed(alt.layer(*layers), total_width, total_height)


def _edges(frame: pd.DataFrame, chosen: int | None, select: str | None) -> alt.Chart:
    """Return a frame around every picture, which meets the mouse; the chosen one's is strong."""
    edges = (
        alt.Chart(frame[["number", "label", "left", "right", "top", "bottom", "lowest", "highest"]])
        .mark_rect(fillOpacity=0, cursor="pointer" if select else "default", aria=False)
        .encode(
            x=alt.X("left:Q"),  # no second axis=None after the marks' axis: Vega-Lite stumbles over it
            y=alt.Y("top:Q"),
            x2=alt.X2("right"),
            y2=alt.Y2("bottom"),
            stroke=alt.condition(
                f"datum.number == {-1 if chosen is None else chosen}",
                alt.value(ROLE_COLOURS[Role.QUERY]),
                alt.value("#8a93a066"),
            ),
            strokeWidth=alt.condition(
                f"datum.number == {-1 if chosen is None else chosen}", alt.value(3), alt.value(1)
            ),
            tooltip=[alt.Tooltip("label:N"), alt.Tooltip("lowest:Q"), alt.Tooltip("highest:Q")],
        )
    )
    if select:
        edges = edges.add_params(
            alt.selection_point(name=select, fields=["number"], on="click", empty=False, clear=False)
        )
    return edges
