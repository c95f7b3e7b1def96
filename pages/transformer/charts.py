"""Charts of what a sequence costs, and of how alike positions are that lie apart."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from attention_core.charts.chart import Chart, compiled
from attention_core.charts.layers import QUIET, named, series_colour
from pages.transformer.cost import LAYER_NAMES, CostRow, expected_line, measured

COLOURS = ("#6B7785", "#D55E00", "#0072B2")
UNITS = {"milliseconds": "time (ms)", "megabytes": "memory (MB)"}
LINE = "#1B6CA8"


def cost_chart(rows: Sequence[CostRow], field: str) -> Chart:
    """Draw "milliseconds" or "megabytes" over n for all ways, measured as lines with points, expected slopes dashed."""
    points, slopes = (
        [(title, n, value) for name, title in LAYER_NAMES.items() for n, value in pairs(rows, name, field)]
        for pairs in (measured, expected_line)
    )
    spec = _cost_chart(tuple(sorted({row["n"] for row in rows})), UNITS[field])
    return Chart(spec, {"slopes": _columns(slopes), "points": _columns(points)})


@compiled
def _cost_chart(sizes: tuple[int, ...], unit: str) -> alt.LayerChart:
    across = alt.Axis(values=list(sizes), format="~s" if max(sizes, default=0) > 99999 else "d", grid=False)
    powers = alt.Axis(values=[10.0**power for power in range(-4, 7)], format="~g")
    channels = (
        alt.X("n:Q", title="n, positions", scale=alt.Scale(type="log", base=2, nice=False), axis=across),
        alt.Y("value:Q", title=unit, scale=alt.Scale(type="log"), axis=powers),
        series_colour("way", [*LAYER_NAMES.values()], COLOURS, offset=2, columns=1, labelLimit=260),
    )
    tooltip = [
        alt.Tooltip("way:N"),
        alt.Tooltip("n:Q", format=","),
        alt.Tooltip("value:Q", title=unit, format=".3g"),
    ]
    dashed = named("slopes").mark_line(**QUIET, strokeDash=[4, 4], strokeWidth=1.3, opacity=0.75)
    lines = named("points").mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=34))
    lines = lines.encode(*channels, tooltip=tooltip)
    return alt.LayerChart(layer=[dashed.encode(*channels), lines], height=350)


def _columns(rows: Sequence[tuple[str, int, float]]) -> dict[str, list]:
    return {name: [row[index] for row in rows] for index, name in enumerate(("way", "n", "value"))}


def distance_chart(distances: np.ndarray, products: np.ndarray, title: str) -> Chart:
    """Draw a dot product over the distance of two positions."""
    x = alt.X("distances:Q", title="distance j - i", axis=alt.Axis(grid=False, tickCount=9))
    y = alt.Y("products:Q", title=title, axis=alt.Axis(tickCount=4))
    tooltip = [alt.Tooltip("distances:Q", title="distance"), alt.Tooltip("products:Q", format=".4g")]
    line = named("products").mark_line(color=LINE, strokeWidth=2).encode(x, y, tooltip=tooltip)
    data = {"products": {"distances": distances, "products": products}}
    return Chart.of(alt.LayerChart(layer=[line], height=270), data)
