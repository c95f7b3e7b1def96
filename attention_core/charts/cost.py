"""What n costs, on log axes, beside the slopes that are expected."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from attention_core.charts.scale import series_colour
from attention_core.topics.transformer.cost import WAYS, CostRow, expected_line, expected_slope, measured

COLOURS = ("#6B7785", "#D55E00", "#0072B2")
UNITS = {"milliseconds": "time (ms)", "megabytes": "memory (MB)"}


def cost_chart(rows: Sequence[CostRow], field: str, *, marked: int | None = None, height: int = 330) -> alt.LayerChart:
    """Draw time or memory over n for all ways, measured as lines with points, expected slopes dashed.

    Args:
        rows: from attention_core.topics.transformer.cost.
        field: "milliseconds" or "megabytes".
        marked: an n to mark, such as that of the person's sentence, or None.
        height: screen pixels.
    """
    titles = [way.title for way in WAYS.values()]
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
    x = alt.X(
        "n:Q",
        title="n, positions",
        scale=alt.Scale(type="log", base=2, nice=False),
        axis=alt.Axis(values=sizes, format="~s" if max(sizes, default=0) > 99999 else "d", grid=False),
    )
    y = alt.Y(
        "value:Q",
        title=UNITS[field],
        scale=alt.Scale(type="log"),
        axis=alt.Axis(values=[10.0**power for power in range(-4, 7)], format="~g"),
    )
    colour = series_colour("way", titles, COLOURS, offset=2, columns=2, labelLimit=260)
    dashed = (
        alt.Chart(slopes)
        .mark_line(strokeDash=[4, 4], strokeWidth=1.3, opacity=0.75, aria=False)
        .encode(x=x, y=y, color=colour)
    )
    line = (
        alt.Chart(points)
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=34))
        .encode(
            x=x,
            y=y,
            color=colour,
            tooltip=[
                alt.Tooltip("way:N"),
                alt.Tooltip("n:Q", format=","),
                alt.Tooltip("value:Q", title=UNITS[field], format=".3g"),
            ],
        )
    )
    layers = [dashed, line]
    if marked is not None and sizes and sizes[0] <= marked <= sizes[-1]:
        rule = alt.Chart(pd.DataFrame([{"n": marked}]))
        layers.append(rule.mark_rule(color="#8a93a0", aria=False).encode(x=alt.X("n:Q")))
    return alt.layer(*layers).properties(height=height)
