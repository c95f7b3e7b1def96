"""What the mouse meets: lines that it is told, invisible rectangles that tell them, clicks that select."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd


def tips(*lines: str | tuple[str, ...]) -> list[alt.Tooltip]:
    """Return what the mouse is told, line by line: "field:Q", or with a title and a format after it, "" = none."""
    return [_line(line) if isinstance(line, str) else _line(*line) for line in lines]


def _line(field: str, title: str = "", form: str = "") -> alt.Tooltip:
    return alt.Tooltip(field, title=title or alt.Undefined, format=form or alt.Undefined)


def mouse_cells(
    frame: pd.DataFrame, space: Mapping[str, Any], *lines: str | tuple[str, ...], **style: Any
) -> alt.Chart:
    """Return what the mouse meets and is told by, for the top: invisible rectangles."""
    look = {"opacity": 0, "aria": False, **style}
    return alt.Chart(frame).mark_rect(**look).encode(**space, tooltip=tips(*lines))


def clickable(chart: alt.Chart, select: str | None, *fields: str, clear: Any = False) -> alt.Chart:
    """Return the chart with a point selection over fields that a click makes and no click clears; as it is if None."""
    if not select:
        return chart
    return chart.add_params(alt.selection_point(name=select, fields=list(fields), on="click", empty=False, clear=clear))


def pointer(select: str | None) -> dict[str, Any]:
    """Return the style of a mark that the mouse meets."""
    return {"cursor": "pointer" if select else "default", "aria": False}
