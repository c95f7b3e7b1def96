"""What charts of layers share: a plot of exact size, corners of rectangles in it, haloed frames and clicks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

CORNERS = {"x": alt.X("left:Q"), "x2": alt.X2("right"), "y": alt.Y("top:Q"), "y2": alt.Y2("bottom")}
"""Channels of rectangles, in the scales of another layer; objects, since Altair reads texts slowly."""


class UncheckedLayers(alt.LayerChart):
    """Layers that are not held against Vega-Lite's schema each time they are drawn: half the time of a page of maps."""

    def to_dict(self, validate: bool = True, **more: Any) -> dict[str, Any]:
        """Return the spec, unchecked; tests/charts checks the specs of all charts that are built here."""
        return super().to_dict(validate=False, **more)


def fixed(layers: Sequence[alt.Chart], width: int, height: int, **properties: Any) -> alt.LayerChart:
    """Return layers in a plot of exactly this size; axes and colour bar come on top (cells stay square)."""
    autosize = alt.AutoSizeParams(type="pad")
    return UncheckedLayers(layer=list(layers), width=width, height=height, autosize=autosize, **properties)


def corners(width: float, height: float) -> dict[str, Any]:
    """Return the channels of rectangles from left to right and top to bottom, (0, 0) at the top left, without axes."""
    return {
        "x": alt.X("left:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False)),
        "x2": alt.X2("right"),
        "y": alt.Y("top:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False)),
        "y2": alt.Y2("bottom"),
    }


def haloed(mark: Callable[..., alt.Chart], colour: str, widths: tuple[float, float], **style: Any) -> list[alt.Chart]:
    """Return outlines in a colour on a white halo that shows on any ground.

    Args:
        mark: such as chart.mark_rect.
        colour: of the line.
        widths: screen pixels of the halo and of the line.
        style: more of the mark.
    """
    strokes = zip(("white", colour), widths, strict=True)
    return [mark(stroke=stroke, strokeWidth=width, aria=False, **style) for stroke, width in strokes]


def clickable(chart: alt.Chart, select: str | None, *fields: str) -> alt.Chart:
    """Return the chart with a point selection over fields that a click makes and no click clears; as it is if None."""
    if not select:
        return chart
    return chart.add_params(alt.selection_point(name=select, fields=list(fields), on="click", empty=False, clear=False))


def pointer(select: str | None) -> dict[str, Any]:
    """Return the style of a mark that the mouse meets."""
    return {"cursor": "pointer" if select else "default", "aria": False}


def sheet(n: int, columns: int, width: int, height: int, gap: int, head: int) -> tuple[pd.DataFrame, int, int]:
    """Return where n pictures of one size lie, line by line: number and corners, and the whole's width and height.

    Args:
        n: number of pictures.
        columns: pictures in a line.
        width: of a picture.
        height: of a picture.
        gap: between pictures.
        head: room above each for its label.
    """
    places = np.arange(n)
    left, top = places % columns * (width + gap), places // columns * (height + gap + head) + head
    frame = pd.DataFrame({"number": places, "left": left, "right": left + width, "top": top, "bottom": top + height})
    return frame, min(columns, n) * (width + gap) - gap, -(-n // columns) * (height + gap + head) - gap
