"""Two-dimensional values and what was mixed from them: a weighted average lies inside the values' hull."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.layers import fixed
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.topics.vectors.hull import convex_hull


def hull_chart(
    values: np.ndarray,
    context: np.ndarray,
    weights: np.ndarray,
    value_labels: Sequence[str],
    query_labels: Sequence[str],
    query: int,
    *,
    size: int = 320,
) -> alt.LayerChart:
    """Draw values, their hull, and the contexts, the chosen query's with a line to each value as wide as its weight.

    Args:
        values: float (n_keys, 2).
        context: float (n_queries, 2).
        weights: float (n_keys,), of the chosen query.
        value_labels: one per value.
        query_labels: one per context.
        query: the chosen one.
        size: screen pixels of a side.
    """
    points = np.vstack([values, context])
    low, high = points.min(0), points.max(0)
    reach = max(float((high - low).max()), 1e-9) * 0.62
    middle = (low + high) / 2
    x = alt.X("x:Q", title="column 1", scale=alt.Scale(domain=[middle[0] - reach, middle[0] + reach], nice=False))
    y = alt.Y("y:Q", title="column 2", scale=alt.Scale(domain=[middle[1] - reach, middle[1] + reach], nice=False))
    corners = convex_hull(values)
    ring = pd.DataFrame(np.vstack([corners, corners[:1]]), columns=["x", "y"]).assign(order=range(len(corners) + 1))
    shape = {"color": ROLE_COLOURS[Role.VALUE], "aria": False, "tooltip": None}
    area = alt.Chart(ring).mark_line(fillOpacity=0.12, fill=ROLE_COLOURS[Role.VALUE], strokeWidth=1.2, **shape)
    spokes = pd.DataFrame(
        {
            "x": values[:, 0],
            "y": values[:, 1],
            "x_end": context[query, 0],
            "y_end": context[query, 1],
            "weight": weights,
            "width": 0.5 + 9 * weights,
            "label": list(value_labels),
        }
    )
    chosen = pd.DataFrame({"x": context[:, 0], "y": context[:, 1], "label": list(query_labels)})
    chosen["chosen"] = np.arange(len(context)) == query
    chosen["size"] = np.where(chosen["chosen"], 170, 45)
    colour = ROLE_COLOURS[Role.CONTEXT]
    lines = (
        alt.Chart(spokes)
        .mark_rule(color=ROLE_COLOURS[Role.WEIGHTS], opacity=0.55, aria=False)
        .encode(x=x, y=y, x2=alt.X2("x_end"), y2=alt.Y2("y_end"), strokeWidth=alt.StrokeWidth("width:Q", scale=None))
    )
    tips = [alt.Tooltip("label:N"), alt.Tooltip("x:Q", format=".4g"), alt.Tooltip("y:Q", format=".4g")]
    dots = alt.Chart(spokes).mark_circle(size=70, color=ROLE_COLOURS[Role.VALUE], opacity=1)
    found = alt.Chart(chosen).mark_point(filled=True, shape="diamond", color=colour, opacity=1)
    text = {"align": "left", "dx": 8, "dy": -7, "fontSize": 12, "aria": False, "tooltip": None}
    layers = [
        area.encode(x=x, y=y, order=alt.Order("order:Q")),
        lines,
        dots.encode(x=x, y=y, tooltip=[*tips, alt.Tooltip("weight:Q", format=".4f")]),
        found.encode(x=x, y=y, tooltip=tips, size=alt.Size("size:Q", scale=None)),
    ]
    if len(values) <= 12:
        layers.append(
            alt.Chart(spokes)
            .mark_text(color=ROLE_COLOURS[Role.VALUE], **text)
            .encode(x=x, y=y, text=alt.Text("label:N"))
        )
    only = chosen[chosen["chosen"]]
    layers.append(
        alt.Chart(only).mark_text(color=colour, fontWeight="bold", **text).encode(x=x, y=y, text=alt.Text("label:N"))
    )
    return fixed(layers, size, size)
