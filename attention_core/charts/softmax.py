"""The softmax of one row as three pictures: exponentials, their sum, the shares."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.layers import fixed
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.charts.scale import names_at


def column_bars(
    values: np.ndarray,
    labels: Sequence[str],
    *,
    role: Role,
    title: str,
    marked: int | None = None,
    top: float | None = None,
    size: tuple[int, int] = (230, 150),
    share: bool = False,
) -> alt.LayerChart:
    """Draw one number per key as an upright bar with its number above.

    Args:
        values: float (n,); numbers that are not finite get no bar.
        labels: one per number.
        role: decides the colour.
        title: of the axis.
        marked: a bar to frame, or None.
        top: upper end of the axis, or None = the largest.
        size: screen pixels, width and height.
        share: write percentages.
    """
    finite = np.isfinite(values)
    frame = pd.DataFrame(
        {
            "place": range(len(values)),
            "label": list(labels),
            "value": np.where(finite, values, 0.0),
            "text": [
                f"{one:.1%}" if share else f"{one:.3g}" if ok else "-∞" for one, ok in zip(values, finite, strict=True)
            ],
            "edge": [2 if place == marked else 0 for place in range(len(values))],
        }
    )
    low, high = min(0.0, float(frame["value"].min())), max(0.0, float(frame["value"].max()))
    high = max(high, top or 0.0)
    room = 0.16 * max(high - low, 1e-12)
    base = alt.Chart(frame).encode(
        x=alt.X(
            "place:O", title=None, axis=alt.Axis(labelExpr=names_at(labels), labelAngle=0, labelLimit=70, ticks=False)
        ),
    )
    scale = alt.Scale(domain=[low - (room if low < 0 else 0), high + room], nice=False)
    y = alt.Y("value:Q", title=title, scale=scale, axis=alt.Axis(tickCount=3, format="%" if share else "~g"))
    bars = base.mark_bar(color=ROLE_COLOURS[role], stroke="#7d8794", cornerRadiusEnd=1).encode(
        y=y,
        strokeWidth=alt.StrokeWidth("edge:Q", scale=None),
        tooltip=[alt.Tooltip("label:N"), alt.Tooltip("text:N")],
    )
    layers = [bars]
    if size[0] / max(len(values), 1) >= 34:
        style = {"fontSize": 11, "color": "#7d8794", "aria": False, "tooltip": None}
        above = base.transform_filter("datum.value >= 0").mark_text(baseline="bottom", dy=-3, **style)
        below = base.transform_filter("datum.value < 0").mark_text(baseline="top", dy=3, **style)
        layers += [above.encode(y=y, text=alt.Text("text:N")), below.encode(y=y, text=alt.Text("text:N"))]
    return fixed(layers, *size)


def stacked_sum(
    values: np.ndarray, labels: Sequence[str], *, title: str, size: tuple[int, int] = (230, 150)
) -> alt.LayerChart:
    """Draw positive numbers laid end to end: their sum is the length.

    Args:
        values: float (n,), 0 or above.
        labels: one per number.
        title: of the axis.
        size: screen pixels, width and height.
    """
    ends = np.cumsum(values)
    total = float(ends[-1]) if len(ends) else 0.0
    frame = pd.DataFrame(
        {
            "start": ends - values,
            "end": ends,
            "middle": ends - values / 2,
            "label": list(labels),
            "value": values,
            "shade": [0.45 + 0.5 * (place % 2) for place in range(len(values))],
            "wide": values > 0.09 * max(total, 1e-300),
        }
    )
    x = alt.X("start:Q", title=title, scale=alt.Scale(domain=[0, total or 1], nice=False), axis=alt.Axis(tickCount=3))
    bar = (
        alt.Chart(frame)
        .mark_bar(color=ROLE_COLOURS[Role.SCORES], height=46, stroke="white", strokeWidth=1)
        .encode(
            x=x,
            x2=alt.X2("end"),
            y=alt.YValue(size[1] / 2),
            opacity=alt.Opacity("shade:Q", scale=None),
            tooltip=[alt.Tooltip("label:N"), alt.Tooltip("value:Q", format=".4g")],
        )
    )
    names = (
        alt.Chart(frame)
        .transform_filter("datum.wide")
        .mark_text(fontSize=11, color="#7d8794", dy=-34, aria=False, tooltip=None)
        .encode(x=alt.X("middle:Q"), y=alt.YValue(size[1] / 2), text=alt.Text("label:N"))
    )
    return fixed([bar, names], *size)
