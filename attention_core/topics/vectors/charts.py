"""Two-dimensional values and what was mixed from them; the softmax of one row: exponentials, their sum, the shares."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts.design import ChartTemplate, alt
from attention_core.charts.layers import fixed
from attention_core.charts.marks import mark, texts
from attention_core.charts.palette import ROLE_COLOURS, WORDS
from attention_core.charts.scale import from_to, names_at
from attention_core.topics.vectors.hull import convex_hull

MOST_NAMES = 12
SIZE = (230, 150)


def hull_chart(
    values: np.ndarray,
    context: np.ndarray,
    weights: np.ndarray,
    value_labels: Sequence[str],
    query_labels: Sequence[str],
    query: int,
) -> ChartTemplate:
    """Draw values, their hull, and the contexts, the chosen query's with a line to each value as wide as its weight.

    Values are (n_keys, 2), contexts (n_queries, 2), with a label each; weights (n_keys,) are those of the chosen query.
    """
    points = np.vstack([values, context])
    low, high = points.min(0), points.max(0)
    reach, middle = max(float((high - low).max()), 1e-9) * 0.62, (low + high) / 2
    at = {
        "x": alt.X("x:Q", title="column 1", scale=from_to(middle[0] - reach, middle[0] + reach)),
        "y": alt.Y("y:Q", title="column 2", scale=from_to(middle[1] - reach, middle[1] + reach)),
    }
    corners = convex_hull(values)
    ring = _points(np.vstack([corners, corners[:1]])) | {"order": range(len(corners) + 1)}
    spokes = _points(values) | {"label": value_labels, "weight": weights, "width": 0.5 + 9 * weights}
    spokes |= {"x_end": [context[query, 0]] * len(values), "y_end": [context[query, 1]] * len(values)}
    sizes = np.where(np.arange(len(context)) == query, 170, 45)
    contexts = _points(context) | {"label": query_labels, "size": sizes}
    chosen = _points(context[[query]]) | {"label": [query_labels[query]]}
    value, result = ROLE_COLOURS[Role.VALUE], ROLE_COLOURS[Role.CONTEXT]
    ends = {"x2": alt.X2("x_end"), "y2": alt.Y2("y_end"), "strokeWidth": alt.StrokeWidth("width:Q", scale=None)}
    told = "label:N", ("x:Q", "", ".4g"), ("y:Q", "", ".4g")
    ring_look = {"fillOpacity": 0.12, "fill": value, "strokeWidth": 1.2, "color": value}
    diamonds = {"filled": True, "shape": "diamond", "color": result, "opacity": 1}
    look: dict[str, Any] = {"align": "left", "dx": 8, "dy": -7, "fontSize": 12}
    layers = [
        mark("line", ring, at, order=alt.Order("order:Q"), **ring_look),
        mark("rule", spokes, at | ends, color=ROLE_COLOURS[Role.WEIGHTS], opacity=0.55),
        mark("circle", spokes, at, *told, ("weight:Q", "", ".4f"), size=70, color=value, opacity=1),
        mark("point", contexts, {**at, "size": alt.Size("size:Q", scale=None)}, *told, **diamonds),
        texts(chosen, at, "label", color=result, fontWeight="bold", **look),
    ]
    if len(values) <= MOST_NAMES:
        layers.insert(4, texts(spokes, at, "label", color=value, **look))
    return fixed(layers, 320, 320)


def _points(places: np.ndarray) -> dict[str, Any]:
    return {"x": places[:, 0], "y": places[:, 1]}


def column_bars(
    values: np.ndarray,
    labels: Sequence[str],
    *,
    role: Role,
    title: str,
    marked: int | None = None,
    top: float | None = None,
    share: bool = False,
) -> ChartTemplate:
    """Draw numbers (n,), one per label, as upright bars in the role's colour with their numbers above.

    Numbers that are not finite get no bar, the marked bar gets a frame, shares are written as percentages; the axis
    with the title ends at the top, or at the largest number if that is larger.
    """
    n, form, drawn = len(values), ".1%" if share else ".3g", np.where(np.isfinite(values), values, 0.0)
    data = {
        "place": range(n),
        "label": labels,
        "value": drawn,
        "text": [format(one, form) if np.isfinite(one) else "-∞" for one in values],
        "edge": [2 if place == marked else 0 for place in range(n)],
    }
    low, high = min(0.0, float(drawn.min())), max(0.0, float(drawn.max()), top or 0.0)
    room = 0.16 * max(high - low, 1e-12)
    places = alt.Axis(labelExpr=names_at(labels), labelAngle=0, labelLimit=70, ticks=False)
    scale = from_to(low - (room if low < 0 else 0), high + room)
    space = {
        "x": alt.X("place:O", title=None, axis=places),
        "y": alt.Y("value:Q", title=title, scale=scale, axis=alt.Axis(tickCount=3, format="%" if share else "~g")),
    }
    edge = alt.StrokeWidth("edge:Q", scale=None)
    look = {"color": ROLE_COLOURS[role], "stroke": WORDS, "cornerRadiusEnd": 1}
    layers = [mark("bar", data, space, "label:N", "text:N", strokeWidth=edge, **look)]
    if SIZE[0] / max(n, 1) >= 34:
        style: dict[str, Any] = {"fontSize": 11, "color": WORDS}
        above = texts(data, space, baseline="bottom", dy=-3, **style).transform_filter("datum.value >= 0")
        below = texts(data, space, baseline="top", dy=3, **style).transform_filter("datum.value < 0")
        layers += [above, below]
    return fixed(layers, *SIZE)


def stacked_sum(values: np.ndarray, labels: Sequence[str], *, title: str) -> ChartTemplate:
    """Draw positive numbers (n,), one per label, laid end to end: their sum is the length."""
    ends = np.cumsum(values)
    total = float(ends[-1]) if len(ends) else 0.0
    data = {
        "start": ends - values,
        "end": ends,
        "middle": ends - values / 2,
        "label": labels,
        "value": values,
        "shade": 0.45 + 0.5 * (np.arange(len(values)) % 2),
        "wide": values > 0.09 * max(total, 1e-300),
    }
    middle = alt.YValue(SIZE[1] / 2)
    x = alt.X("start:Q", title=title, scale=from_to(0, total or 1), axis=alt.Axis(tickCount=3))
    space = {"x": x, "x2": alt.X2("end"), "y": middle}
    look = {"color": ROLE_COLOURS[Role.SCORES], "height": 46, "stroke": "white", "strokeWidth": 1}
    shade = alt.Opacity("shade:Q", scale=None)
    names = texts(data, {"x": alt.X("middle:Q"), "y": middle}, "label", fontSize=11, color=WORDS, dy=-34)
    bar = mark("bar", data, space, "label:N", ("value:Q", "", ".4g"), opacity=shade, **look)
    return fixed([bar, names.transform_filter("datum.wide")], *SIZE)
