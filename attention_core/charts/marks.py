"""What is drawn more than once: pictures, words and outlines in a space, and the styles that marks share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import altair as alt
import pandas as pd

from attention_core.charts.palette import FAINT

SILENT: dict[str, Any] = {"aria": False, "tooltip": None}
"""Style of a mark that neither the mouse nor a screen reader meets."""
EDGE: dict[str, Any] = {"fillOpacity": 0, "stroke": FAINT, "aria": False}
"""Style of the thin line around a picture."""


def images(frame: pd.DataFrame, space: Mapping[str, Any], field: str = "url", **style: Any) -> alt.Chart:
    """Return pictures, whose data URLs are a field of the frame, from corner to corner with crisp pixels."""
    look = {"smooth": False, "aspect": False, "aria": False, **style}
    return alt.Chart(frame).mark_image(**look).encode(**space, url=alt.Url(f"{field}:N"))


def texts(frame: pd.DataFrame, space: Mapping[str, Any], field: str = "text", **style: Any) -> alt.Chart:
    """Return words, a field of the frame, at x and y of the space."""
    mark = alt.Chart(frame).mark_text(aria=False, **style)
    return mark.encode(x=space["x"], y=space["y"], text=alt.Text(f"{field}:N"))


def outlined(frame: pd.DataFrame, space: Mapping[str, Any], colour: str, width: float, **style: Any) -> alt.Chart:
    """Return rectangles as lines of a colour and width."""
    mark = alt.Chart(frame).mark_rect(fillOpacity=0, stroke=colour, strokeWidth=width, aria=False, **style)
    return mark.encode(**space)


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
