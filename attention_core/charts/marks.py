"""What is drawn more than once: pictures, words and outlines in a space; what the mouse is told, and clicks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attention_core.charts.design import Data, Design, alt
from attention_core.charts.palette import CHOSEN, FAINT

SILENT: dict[str, Any] = {"aria": False, "tooltip": None}
"""Style of a mark that neither the mouse nor a screen reader meets."""
EDGE: dict[str, Any] = {"fillOpacity": 0, "stroke": FAINT, "aria": False}
"""Style of the thin line around a picture."""


def images(frame: Data, space: Mapping[str, Any], field: str = "url", **style: Any) -> Design:
    """Return pictures, whose data URLs are a field of the frame, from corner to corner with crisp pixels."""
    look = {"smooth": False, "aspect": False, "aria": False, **style}
    return alt.Chart(frame).mark_image(**look).encode(**space, url=alt.Url(f"{field}:N"))


def texts(frame: Data, space: Mapping[str, Any], field: str = "text", **style: Any) -> Design:
    """Return words, a field of the frame, at x and y of the space."""
    mark = alt.Chart(frame).mark_text(aria=False, **style)
    return mark.encode(x=space["x"], y=space["y"], text=alt.Text(f"{field}:N"))


def outlined(frame: Data, space: Mapping[str, Any], width: float, colour: Any = CHOSEN, **style: Any) -> Design:
    """Return the outlines of rectangles, in the colour of what is chosen unless told otherwise."""
    mark = alt.Chart(frame).mark_rect(fillOpacity=0, stroke=colour, strokeWidth=width, aria=False, **style)
    return mark.encode(**space)


def haloed(
    mark: Callable[..., Design], widths: tuple[float, float], colour: str = CHOSEN, **style: Any
) -> list[Design]:
    """Return the outlines of a mark, such as chart.mark_rect, on a white halo that shows on any ground.

    The widths are screen pixels of the halo and of the line.
    """
    strokes = zip(("white", colour), widths, strict=True)
    return [mark(stroke=stroke, strokeWidth=width, aria=False, **style) for stroke, width in strokes]


def tips(*lines: str | tuple[str, ...]) -> list[Design]:
    """Return what the mouse is told, line by line: "field:Q", or with a title and a format after it, "" = none."""
    return [_line(line) if isinstance(line, str) else _line(*line) for line in lines]


def _line(field: str, title: str = "", form: str = "") -> Design:
    return alt.Tooltip(field, title=title or alt.Undefined, format=form or alt.Undefined)


def mouse_cells(frame: Data, space: Mapping[str, Any], *lines: str | tuple[str, ...], **style: Any) -> Design:
    """Return what the mouse meets and is told by, for the top: invisible rectangles."""
    look = {"opacity": 0, "aria": False, **style}
    return alt.Chart(frame).mark_rect(**look).encode(**space, tooltip=tips(*lines))


def clickable(chart: Design, select: str | None, *fields: str, clear: Any = False) -> Design:
    """Return the chart with a point selection over fields that a click makes and no click clears; as it is if None."""
    if not select:
        return chart
    return chart.add_params(alt.selection_point(name=select, fields=list(fields), on="click", empty=False, clear=clear))


def pointer(select: str | None) -> dict[str, Any]:
    """Return the style of a mark that the mouse meets."""
    return {"cursor": "pointer" if select else "default", "aria": False}
