"""Two-dimensional values and what was mixed from them: a weighted average lies inside the values' hull."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.design import Design, alt
from attention_core.charts.layers import fixed
from attention_core.charts.marks import SILENT, texts, tips
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.charts.scale import from_to
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
) -> Design:
    """Draw values, their hull, and the contexts, the chosen query's with a line to each value as wide as its weight.

    Values are (n_keys, 2), contexts (n_queries, 2), with a label each; weights (n_keys,) are those of the chosen query.
    """
    points = np.vstack([values, context])
    low, high = points.min(0), points.max(0)
    reach = max(float((high - low).max()), 1e-9) * 0.62
    middle = (low + high) / 2
    at = {
        "x": alt.X("x:Q", title="column 1", scale=from_to(middle[0] - reach, middle[0] + reach)),
        "y": alt.Y("y:Q", title="column 2", scale=from_to(middle[1] - reach, middle[1] + reach)),
    }
    corners = convex_hull(values)
    ring = pd.DataFrame(np.vstack([corners, corners[:1]]), columns=["x", "y"]).assign(order=range(len(corners) + 1))
    spokes = pd.DataFrame(values, columns=["x", "y"]).assign(
        x_end=context[query, 0],
        y_end=context[query, 1],
        weight=weights,
        width=0.5 + 9 * weights,
        label=list(value_labels),
    )
    is_chosen = np.arange(len(context)) == query
    found = pd.DataFrame(context, columns=["x", "y"]).assign(
        label=list(query_labels), chosen=is_chosen, size=np.where(is_chosen, 170, 45)
    )
    value, result = ROLE_COLOURS[Role.VALUE], ROLE_COLOURS[Role.CONTEXT]
    area = alt.Chart(ring).mark_line(fillOpacity=0.12, fill=value, strokeWidth=1.2, color=value, **SILENT)
    lines = alt.Chart(spokes).mark_rule(color=ROLE_COLOURS[Role.WEIGHTS], opacity=0.55, aria=False)
    ends = {"x2": alt.X2("x_end"), "y2": alt.Y2("y_end"), "strokeWidth": alt.StrokeWidth("width:Q", scale=None)}
    dots = alt.Chart(spokes).mark_circle(size=70, color=value, opacity=1)
    diamonds = alt.Chart(found).mark_point(filled=True, shape="diamond", color=result, opacity=1)
    told = ["label:N", ("x:Q", "", ".4g"), ("y:Q", "", ".4g")]
    layers = [
        area.encode(**at, order=alt.Order("order:Q")),
        lines.encode(**at, **ends),
        dots.encode(**at, tooltip=tips(*told, ("weight:Q", "", ".4f"))),
        diamonds.encode(**at, tooltip=tips(*told), size=alt.Size("size:Q", scale=None)),
    ]
    look = {"align": "left", "dx": 8, "dy": -7, "fontSize": 12, "tooltip": None}
    if len(values) <= 12:
        layers.append(texts(spokes, at, "label", color=value, **look))
    layers.append(texts(found[is_chosen], at, "label", color=result, fontWeight="bold", **look))
    return fixed(layers, size, size)
