"""A mixture of values."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts import vega as vl

FONT_SIZE = 12


def convex_hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull of points (n, 2), counter-clockwise; points on an edge count too."""
    unique = np.unique(points, axis=0)
    if len(unique) < 3:
        return unique
    (x, y), n = (unique[None] - unique[:, None]).transpose(2, 0, 1), len(unique)
    turns = x[:, :, None] * y[:, None] - y[:, :, None] * x[:, None]
    is_edge = (turns > -1e-9).all(2) & ~np.eye(n, dtype=bool)  # no point lies to its right
    corners = unique[is_edge.any(1)]
    x, y = (corners - corners.mean(0)).T
    return corners[np.argsort(np.arctan2(y, x))]


def hull_chart(
    values: np.ndarray,
    context: np.ndarray,
    weights: np.ndarray,
    value_labels: Sequence[str],
    query_labels: Sequence[str],
    query: int,
) -> vl.Chart:
    """Draw values, their hull, and the contexts, the chosen query's with a line to each value as wide as its weight.

    Values are (n_keys, 2), contexts (n_queries, 2), with a label each; weights (n_keys,) are those of the chosen query.
    """
    points = np.vstack([values, context])
    low, high = points.min(0), points.max(0)
    reach, middle = max(float((high - low).max()), 1e-9) * 0.62, (low + high) / 2
    at = {
        "x": vl.field("x:Q", title="column 1", scale=vl.exact_scale(middle[0] - reach, middle[0] + reach)),
        "y": vl.field("y:Q", title="column 2", scale=vl.exact_scale(middle[1] - reach, middle[1] + reach)),
    }
    hull = convex_hull(values)
    ring = _points(np.vstack([hull, hull[:1]])) | {"order": range(len(hull) + 1)}
    spokes = _points(values) | {"label": value_labels, "weight": weights, "width": 0.5 + 9 * weights}
    spokes |= {"x_end": [context[query, 0]] * len(values), "y_end": [context[query, 1]] * len(values)}
    contexts = _points(context) | {"label": query_labels, "size": np.where(np.arange(len(context)) == query, 170, 45)}
    chosen = _points(context[[query]]) | {"label": [query_labels[query]]}
    value, result = vl.ROLE_COLOURS[Role.VALUE], vl.ROLE_COLOURS[Role.CONTEXT]
    ends = {"x2": vl.field("x_end"), "y2": vl.field("y_end"), "strokeWidth": vl.field("width:Q", scale=None)}
    tooltip = "label:N", ("x:Q", "", ".4g"), ("y:Q", "", ".4g")
    ring_look = {"fillOpacity": 0.12, "fill": value, "strokeWidth": 1.2, "color": value}
    diamonds = {"filled": True, "shape": "diamond", "color": result, "opacity": 1}
    style: dict[str, Any] = {"align": "left", "dx": 8, "dy": -7, "fontSize": FONT_SIZE}
    layers = [
        vl.mark("line", ring, at, order=vl.field("order:Q"), **ring_look),
        vl.mark("rule", spokes, at | ends, color=vl.ROLE_COLOURS[Role.WEIGHTS], opacity=0.55),
        vl.mark("circle", spokes, at, *tooltip, ("weight:Q", "", ".4f"), size=70, color=value, opacity=1),
        vl.mark("point", contexts, at, *tooltip, size=vl.field("size:Q", scale=None), **diamonds),
        *(vl.texts(side, at, "label", color=value, **style | look) for side, look in _outside(spokes, values)),
        vl.texts(chosen, at, "label", color=result, fontWeight="bold", **style),
    ]
    return vl.fixed_size(layers, 320, 320)


def _outside(spokes: vl.Columns, values: np.ndarray) -> Iterator[tuple[vl.Columns, dict[str, Any]]]:
    """Yield the values on the left of their middle and those on the right, with where names stand beside them."""
    left = values[:, 0] < values[:, 0].mean()
    for chosen, look in ((left, {"align": "right", "dx": -8}), (~left, {})):
        yield {name: np.array(column, object)[chosen] for name, column in spokes.items()}, look


def _points(places: np.ndarray) -> vl.Columns:
    return {"x": places[:, 0], "y": places[:, 1]}
