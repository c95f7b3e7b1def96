"""Charts of the transformer's page: what n costs, dot products over distance."""

from collections.abc import Sequence

import numpy as np

from attention_core.charts import vega as vl
from attention_core.topics.transformer.cost import WAYS, CostRow, expected_line, measured

COLOURS = ("#6B7785", "#D55E00", "#0072B2")
UNITS = {"milliseconds": "time (ms)", "megabytes": "memory (MB)"}
LINE = "#1B6CA8"


def cost_chart(rows: Sequence[CostRow], field: str) -> vl.Chart:
    """Draw "milliseconds" or "megabytes" over n for all ways, measured as lines with points, expected slopes dashed."""
    points, slopes = (
        [(WAYS[way], n, value) for way in WAYS for n, value in pairs(rows, way, field)]
        for pairs in (measured, expected_line)
    )
    sizes = sorted({row["n"] for row in rows})
    x_axis = dict(values=sizes, format="~s" if max(sizes, default=0) > 99999 else "d", grid=False)
    y_axis = dict(values=[10.0**power for power in range(-4, 7)], format="~g")
    space = {
        "x": vl.field("n:Q", title="n, positions", scale=dict(type="log", base=2, nice=False), axis=x_axis),
        "y": vl.field("value:Q", title=UNITS[field], scale=dict(type="log"), axis=y_axis),
        "color": vl.series_colour("way", [*WAYS.values()], COLOURS, offset=2, columns=1, labelLimit=260),
    }
    dashed = {"strokeDash": [4, 4], "strokeWidth": 1.3, "opacity": 0.75}
    tooltip = "way:N", ("n:Q", "", ","), ("value:Q", UNITS[field], ".3g")
    return vl.layer(
        vl.mark("line", _columns(slopes), space, **dashed),
        vl.mark("line", _columns(points), space, *tooltip, strokeWidth=2, point={"size": 34}),
        height=350,
    )


def _columns(rows: Sequence[tuple[str, int, float]]) -> dict[str, list]:
    return {name: [row[place] for row in rows] for place, name in enumerate(("way", "n", "value"))}


def distance_chart(distances: np.ndarray, products: np.ndarray, title: str) -> vl.Chart:
    """Draw a dot product over the distance of two positions."""
    line = {
        "x": vl.field("distances:Q", title="distance j - i", axis=dict(grid=False, tickCount=9)),
        "y": vl.field("products:Q", title=title, axis=dict(tickCount=4)),
    }
    data = {"distances": distances, "products": products}
    tooltip = ("distances:Q", "distance"), ("products:Q", "", ".4g")
    return vl.layer(vl.mark("line", data, line, *tooltip, color=LINE, strokeWidth=2), height=270)
