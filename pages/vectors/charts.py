"""A mixture of values."""

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt
import numpy as np

from attention_core.attention.types import Role
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import Columns
from attention_core.charts.layers import QUIET, exact_scale, fixed_size, named, texts
from attention_core.charts.ramps import ROLE_COLOURS

FONT_SIZE = 12
SIZE = np.array([520, 300])
"""Screen pixels that the plot of a mixture may take, width and height."""


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
    values: np.ndarray, context: np.ndarray, weights: np.ndarray, value_labels: Sequence[str], context_label: str
) -> Chart:
    """Draw values (n_keys, 2), their hull, a context (2,) in it, and a line to each value as wide as its weight."""
    low, high = values.min(0), values.max(0)
    sides = np.maximum(high - low, 0.45 * max(float((high - low).max()), 1e-9)) * 1.4
    width, height = (sides * min(SIZE / sides)).round().astype(int).tolist()
    low, high = ((low + high + sign * sides) / 2 for sign in (-1, 1))
    hull = convex_hull(values)
    ring = _points(np.vstack([hull, hull[:1]])) | {"order": range(len(hull) + 1)}
    spokes = _points(values) | {"label": value_labels, "weight": weights, "width": 0.5 + 9 * weights}
    spokes |= {"x_end": [context[0]] * len(values), "y_end": [context[1]] * len(values)}
    left, right = _sides(spokes, values)
    data = {"ring": ring, "spokes": spokes, "left": left, "right": right}
    data["context"] = _points(context[None]) | {"label": [f"context of {context_label}"]}
    return Chart(_hull_chart(tuple(low.tolist()), tuple(high.tolist()), width, height), data)


@compiled
def _hull_chart(low: tuple[float, ...], high: tuple[float, ...], width: int, height: int) -> alt.LayerChart:
    x, y = (exact_scale(*limits) for limits in zip(low, high, strict=True))
    axis = alt.Axis(tickCount=5)
    at: dict[str, Any] = {"x": alt.X("x:Q", title="first number", scale=x, axis=axis)}
    at["y"] = alt.Y("y:Q", title="second number", scale=y, axis=axis)
    value, result = ROLE_COLOURS[Role.VALUE], ROLE_COLOURS[Role.CONTEXT]
    line = {"x2": alt.X2("x_end"), "y2": alt.Y2("y_end"), "strokeWidth": alt.StrokeWidth("width:Q", scale=None)}
    tooltip = [alt.Tooltip("label:N"), alt.Tooltip("x:Q", format=".4g"), alt.Tooltip("y:Q", format=".4g")]
    ring = named("ring").mark_line(**QUIET, fillOpacity=0.12, fill=value, strokeWidth=1.2, color=value)
    diamond = named("context").mark_point(filled=True, shape="diamond", color=result, opacity=1, size=170)
    style: dict[str, Any] = {"dy": -7, "fontSize": FONT_SIZE}
    layers = [
        ring.encode(**at, order=alt.Order("order:Q")),
        named("spokes").mark_rule(**QUIET, color=ROLE_COLOURS[Role.WEIGHTS], opacity=0.55).encode(**at, **line),
        named("spokes")
        .mark_circle(size=70, color=value, opacity=1)
        .encode(**at, tooltip=[*tooltip, alt.Tooltip("weight:Q", format=".4f")]),
        diamond.encode(**at, tooltip=tooltip),
        texts("left", at, "label", color=value, align="right", dx=-8, **style),
        texts("right", at, "label", color=value, align="left", dx=8, **style),
        texts("context", at, "label", color=result, fontWeight="bold", align="left", dx=10, **style),
    ]
    return fixed_size(layers, width, height)


def _sides(spokes: Columns, values: np.ndarray) -> Iterator[Columns]:
    """Yield the values on the left of their middle, whose names stand there, and those on the right."""
    left = values[:, 0] < values[:, 0].mean()
    for chosen in (left, ~left):
        yield {name: np.array(column, object)[chosen] for name, column in spokes.items()}


def _points(points: np.ndarray) -> Columns:
    return {"x": points[:, 0], "y": points[:, 1]}
