"""What n costs, on log axes, beside the slopes that are expected."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from attention_core.charts.design import Design, alt
from attention_core.charts.marks import tips
from attention_core.charts.palette import GREY
from attention_core.charts.scale import rule_at, series_colour, wrapping
from attention_core.topics.transformer.cost import WAYS, CostRow, expected_line, expected_slope, measured

COLOURS = ("#6B7785", "#D55E00", "#0072B2")
UNITS = {"milliseconds": "time (ms)", "megabytes": "memory (MB)"}


def cost_chart(rows: Sequence[CostRow], field: str, *, marked: int | None = None, height: int = 330) -> Design:
    """Draw "milliseconds" or "megabytes" over n for all ways, measured as lines with points, expected slopes dashed.

    An n can be marked, such as that of the person's sentence.
    """
    points = pd.DataFrame(
        [{"n": n, "value": value, "way": WAYS[way].title} for way in WAYS for n, value in measured(rows, way, field)],
        columns=["n", "value", "way"],
    )
    slopes = pd.DataFrame(
        [
            {"n": n, "value": value, "way": WAYS[way].title, "slope": expected_slope(way, field)}
            for way in WAYS
            for n, value in expected_line(rows, way, field)
        ],
        columns=["n", "value", "way", "slope"],
    )
    sizes = sorted({row.n for row in rows})
    x_axis = alt.Axis(values=sizes, format="~s" if max(sizes, default=0) > 99999 else "d", grid=False)
    y_axis = alt.Axis(values=[10.0**power for power in range(-4, 7)], format="~g")
    titles = [way.title for way in WAYS.values()]
    space = {
        "x": alt.X("n:Q", title="n, positions", scale=alt.Scale(type="log", base=2, nice=False), axis=x_axis),
        "y": alt.Y("value:Q", title=UNITS[field], scale=alt.Scale(type="log"), axis=y_axis),
        "color": series_colour("way", titles, COLOURS, offset=2, columns=wrapping(titles), labelLimit=260),
    }
    dashed = alt.Chart(slopes).mark_line(strokeDash=[4, 4], strokeWidth=1.3, opacity=0.75, aria=False)
    line = alt.Chart(points).mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=34))
    tooltip = tips("way:N", ("n:Q", "", ","), ("value:Q", UNITS[field], ".3g"))
    layers = [dashed.encode(**space), line.encode(**space, tooltip=tooltip)]
    if marked is not None and sizes and sizes[0] <= marked <= sizes[-1]:
        layers.append(rule_at("x", "n", marked, color=GREY))
    return alt.layer(*layers, height=height)
