"""The softmax of one row as three pictures: exponentials, their sum, the shares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.design import Design, alt
from attention_core.charts.layers import fixed
from attention_core.charts.marks import texts, tips
from attention_core.charts.palette import ROLE_COLOURS, WORDS
from attention_core.charts.scale import from_to, names_at


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
) -> Design:
    """Draw numbers (n,), one per label, as upright bars in the role's colour with their numbers above.

    Numbers that are not finite get no bar, the marked bar gets a frame, shares are written as percentages; the axis
    with the title ends at the top, or at the largest number if that is larger.
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
    places = alt.Axis(labelExpr=names_at(labels), labelAngle=0, labelLimit=70, ticks=False)
    scale = from_to(low - (room if low < 0 else 0), high + room)
    space = {
        "x": alt.X("place:O", title=None, axis=places),
        "y": alt.Y("value:Q", title=title, scale=scale, axis=alt.Axis(tickCount=3, format="%" if share else "~g")),
    }
    bars = alt.Chart(frame).mark_bar(color=ROLE_COLOURS[role], stroke=WORDS, cornerRadiusEnd=1)
    edge = alt.StrokeWidth("edge:Q", scale=None)
    layers = [bars.encode(**space, strokeWidth=edge, tooltip=tips("label:N", "text:N"))]
    if size[0] / max(len(values), 1) >= 34:
        style = {"fontSize": 11, "color": WORDS, "tooltip": None}
        above = texts(frame, space, baseline="bottom", dy=-3, **style).transform_filter("datum.value >= 0")
        below = texts(frame, space, baseline="top", dy=3, **style).transform_filter("datum.value < 0")
        layers += [above, below]
    return fixed(layers, *size)


def stacked_sum(values: np.ndarray, labels: Sequence[str], *, title: str, size: tuple[int, int] = (230, 150)) -> Design:
    """Draw positive numbers (n,), one per label, laid end to end: their sum is the length."""
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
    middle = alt.YValue(size[1] / 2)
    bar = alt.Chart(frame).mark_bar(color=ROLE_COLOURS[Role.SCORES], height=46, stroke="white", strokeWidth=1)
    bar = bar.encode(
        x=alt.X("start:Q", title=title, scale=from_to(0, total or 1), axis=alt.Axis(tickCount=3)),
        x2=alt.X2("end"),
        y=middle,
        opacity=alt.Opacity("shade:Q", scale=None),
        tooltip=tips("label:N", ("value:Q", "", ".4g")),
    )
    place = {"x": alt.X("middle:Q"), "y": middle}
    names = texts(frame, place, "label", fontSize=11, color=WORDS, dy=-34, tooltip=None)
    return fixed([bar, names.transform_filter("datum.wide")], *size)
