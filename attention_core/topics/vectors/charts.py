"""One row's softmax, a mixture of values, a feed-forward network."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts import vega as vl

FONT_SIZE = 12


def short(value: float) -> str:
    """Return a number that fits a cell: at most two decimals, none where there are none; - for no number."""
    if value != value:
        return "-"
    size = abs(value)
    text = f"{size:.0e}" if size >= 1000 else f"{size:.0f}" if size >= 100 else f"{size:.2f}".rstrip("0").rstrip(".")
    return f"−{text}" if value < 0 and text != "0" else text


SIZE = (330, 160)
UNIT = vl.corners(1, 1)
NETWORK_SIZE = (430, 230)
LEFT, MIDDLE, RIGHT = 0.07, 0.45, 0.83
"""Where inputs, units and the answer stand."""
SMALL: dict[str, Any] = {"fontSize": 12, "color": vl.TEXT_COLOUR}
Edge = tuple[float, float, float, float, str]
"""From x and y to x and y, and the weight."""


def column_bars(
    values: np.ndarray, labels: Sequence[str], *, role: Role, title: str, marked: int, share: bool = False
) -> vl.Chart:
    """Draw positive numbers (n,), one per label, as upright bars in the role's colour with their numbers above.

    The marked bar gets a frame; shares are written as percentages on an axis up to 1.
    """
    n, form = len(values), ".1%" if share else ".3g"
    data = {
        "place": range(n),
        "label": labels,
        "value": values,
        "text": [format(one, form) for one in values],
        "edge": [2 if place == marked else 0 for place in range(n)],
    }
    high = max(float(values.max()), float(share))
    places = dict(labelExpr=vl.label_expression(labels), labelAngle=0, labelLimit=70, ticks=False)
    scale = vl.exact_scale(0.0, high + 0.16 * max(high, 1e-12))
    space = {
        "x": vl.field("place:O", title=None, axis=places),
        "y": vl.field("value:Q", title=title, scale=scale, axis=dict(tickCount=3, format="%" if share else "~g")),
    }
    edge = vl.field("edge:Q", scale=None)
    style = {"color": vl.ROLE_COLOURS[role], "stroke": vl.TEXT_COLOUR, "cornerRadiusEnd": 1}
    bars = vl.mark("bar", data, space, "label:N", "text:N", strokeWidth=edge, **style)
    numbers = vl.texts(data, space, baseline="bottom", dy=-3, fontSize=FONT_SIZE, color=vl.TEXT_COLOUR)
    return vl.fixed_size([bars, numbers], *SIZE)


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


def neuron_chart(weights: np.ndarray, inputs: np.ndarray, labels: Sequence[str], *, bent: str = "") -> vl.Chart:
    """Draw w1 x1 + w2 x2 + ... = y for a neuron's weights and inputs, (n, d), with a label per input.

    A neuron that bends its sum has `bent`, what comes out; the sum then stands below it.
    """
    parts = (weights * inputs).sum(1)
    total, heights, numbers = short(float(parts.sum())), _heights(len(labels)), range(1, len(labels) + 1)
    of_input = [f"w{i} = ({_listed(row)})" for i, row in zip(numbers, weights, strict=True)]
    of_part = [f"w{i} · {label} = {short(part)}" for i, label, part in zip(numbers, labels, parts, strict=True)]
    layers = [
        _edges([(0.56, height, RIGHT, 0.5, "") for height in heights]),
        *_circles(LEFT, heights, labels, role=Role.INPUT),
        vl.texts(vl.rectangles(0.16, heights, text=of_input), UNIT, align="left", dy=-8, **SMALL),
        vl.texts(vl.rectangles(0.16, heights, text=of_part), UNIT, align="left", dy=9, **SMALL),
        *_circles(RIGHT, [0.5], [bent or total], [f"y = tanh({total})" if bent else "y"], role=Role.OUTPUT),
    ]
    return vl.fixed_size(layers, *NETWORK_SIZE)


def layers_chart(
    weights: np.ndarray, units: Sequence[float], second: Sequence[float], answer: float, labels: Sequence[str]
) -> vl.Chart:
    """Draw two layers: every input has an edge to every unit, and a last neuron adds the units up.

    Weights are (n_units, n, d), told on hover; a unit says a number and has a second weight.
    """
    heights, middles = _heights(len(labels)), _heights(len(units))
    first = [
        (LEFT, height, MIDDLE, middle, f"({_listed(weights[unit, place])})")
        for unit, middle in enumerate(middles)
        for place, height in enumerate(heights)
    ]
    last = [(MIDDLE, middle, RIGHT, 0.5, short(weight)) for middle, weight in zip(middles, second, strict=True)]
    halfway = [(MIDDLE + RIGHT) / 2] * len(last), [(middle + 0.5) / 2 for middle in middles]
    layers = [
        _edges([*first, *last]),
        vl.texts(vl.rectangles(*halfway, text=[weight for *_, weight in last]), UNIT, dy=-10, **SMALL),
        *_circles(LEFT, heights, labels, role=Role.INPUT),
        *_circles(MIDDLE, middles, [*map(short, units)], [f"h{i + 1}" for i in range(len(units))], role=Role.INPUT),
        *_circles(RIGHT, [0.5], [short(answer)], ["y"], role=Role.OUTPUT),
    ]
    return vl.fixed_size(layers, *NETWORK_SIZE)


def _heights(n: int) -> list[float]:
    return [(place + 0.5) / n for place in range(n)]


def _listed(numbers: Sequence[float]) -> str:
    return ", ".join(map(short, numbers))


def _edges(edges: Sequence[Edge]) -> vl.Chart:
    data = dict(zip(("left", "top", "right", "bottom", "weight"), map(list, zip(*edges, strict=True)), strict=True))
    return vl.mark("rule", data, UNIT, "weight:N", color=vl.GREY, strokeWidth=1.5, aria=False)


def _circles(
    x: float, y: Sequence[float], inside: Sequence[str], under: Sequence[str] = (), *, role: Role
) -> list[vl.Chart]:
    data, large = vl.rectangles(x, y, text=inside), role is Role.OUTPUT
    style: dict[str, Any] = {"fontSize": 13, "fontWeight": "bold"} if large else {"fontSize": 12}
    place = {"x": UNIT["x"], "y": UNIT["y"]}
    layers = [
        vl.mark("circle", data, place, size=1900 if large else 1000, color=vl.ROLE_COLOURS[role], opacity=1),
        vl.texts(data, UNIT, color="white", **style),
    ]
    return [*layers, vl.texts(data | {"text": under}, UNIT, dy=36 if large else 26, **SMALL)] if under else layers
