"""Small feed-forward networks as circles and lines: a neuron, and two layers."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
from PIL.ImageColor import getcolor

from attention_core.attention.types import Role
from attention_core.attention.view.colours import DOWN, UP
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import Columns, rectangles
from attention_core.charts.layers import FILL, INK, QUIET, corners, fixed_size, named, texts
from attention_core.charts.ramps import DARK_COLOUR, GREY, ROLE_COLOURS, TEXT_COLOUR, is_dark

UNIT = corners(1, 1)
WIDTH, HEIGHT, APART = 430, 230, 46
"""Screen pixels: of the whole, which is higher where there are many circles, and from one circle to the next."""
LEFT, MIDDLE, RIGHT = 0.07, 0.45, 0.83  # where inputs, units and the answer stand
NEAR = 0.32  # how far from its unit to the answer a weight stands
THICKEST = 5.0  # screen pixels of a line
SMALL: dict[str, Any] = {"fontSize": 12, "color": TEXT_COLOUR}
Edge = tuple[float, float, float, float, float, str]
"""From x and y to x and y, its weight, NaN for several numbers, and the same in words."""


class Node(NamedTuple):
    """A circle: what stands in it, what stands below it, whose colour it has."""

    inside: str
    name: str = ""
    role: Role = Role.INPUT


def short(value: float) -> str:
    """Return a number that fits a cell: at most two decimals, none where there are none; - for no number."""
    if value != value:
        return "-"
    size = abs(value)
    text = f"{size:.0e}" if size >= 1000 else f"{size:.0f}" if size >= 100 else f"{size:.2f}".rstrip("0").rstrip(".")
    return f"−{text}" if value < 0 and text != "0" else text


def neuron_chart(weights: np.ndarray, inputs: np.ndarray, labels: Sequence[str], *, bent: str = "") -> Chart:
    """Draw w1 x1 + w2 x2 + ... = y for a neuron's weights and inputs, (n, d), with a label per input.

    A neuron that bends its sum has `bent`, what comes out; the sum then stands below it.
    """
    products = (weights * inputs).sum(1)
    total, heights, numbers = short(float(products.sum())), _heights(len(labels)), range(1, len(labels) + 1)
    of_input = [f"w{i} = ({_listed(row)})" for i, row in zip(numbers, weights, strict=True)]
    labels_of_products = [
        f"w{i} · {label} = {short(product)}" for i, label, product in zip(numbers, labels, products, strict=True)
    ]
    lines = [line for y in heights for line in ((LEFT, y, 0.56, y), (0.56, y, RIGHT, 0.5))]
    data = {
        "first": _edges([(*line, np.nan, "") for line in lines]),
        "inputs": _circles(LEFT, [Node(label) for label in labels]),
        "above": rectangles(0.16, heights, text=of_input),
        "below": rectangles(0.16, heights, text=labels_of_products),
        "answer": _circles(RIGHT, [Node(bent or total, f"y = tanh({total})" if bent else "y")]),
    }
    return Chart(_neuron_chart(), data)


@compiled
def _neuron_chart() -> alt.LayerChart:
    layers = [
        _lines("first"),
        *_nodes("inputs"),
        texts("above", UNIT, align="left", dy=-11, **SMALL),
        texts("below", UNIT, align="left", dy=12, **SMALL),
        *_nodes("answer", has_names=True, is_large=True),
    ]
    return fixed_size(layers, WIDTH, HEIGHT)


def layers_chart(
    inputs: Sequence[Node], weights: np.ndarray, units: Sequence[Node], second: Sequence[float], answer: Node
) -> Chart:
    """Draw two layers: every input has an edge to every unit, and a last neuron adds the units up.

    Weights are (n_units, n, d), told on hover, and a unit has a second weight. An edge of one number is as wide as that
    is large in its layer, and has the colour of its sign.
    """
    heights, middles = _heights(len(inputs)), _heights(len(units))
    first = [
        (LEFT, height, MIDDLE, middle, *_weight(weights[unit, index]))
        for unit, middle in enumerate(middles)
        for index, height in enumerate(heights)
    ]
    last = [(MIDDLE, middle, RIGHT, 0.5, weight, short(weight)) for middle, weight in zip(middles, second, strict=True)]
    near = [MIDDLE + NEAR * (RIGHT - MIDDLE)] * len(last), [middle + NEAR * (0.5 - middle) for middle in middles]
    circles = {"inputs": _circles(LEFT, inputs), "units": _circles(MIDDLE, units), "answer": _circles(RIGHT, [answer])}
    numbers = {"numbers": rectangles(*near, text=[text for *_, text in last])}
    has_names = tuple(any(node.name for node in nodes) for nodes in (inputs, units, [answer]))
    spec = _layers_chart(has_names, max(HEIGHT, APART * max(len(inputs), len(units))))
    return Chart(spec, {"first": _edges(first), "last": _edges(last), **numbers, **circles})


@compiled
def _layers_chart(has_names: tuple[bool, ...], height: int) -> alt.LayerChart:
    layers = [_lines("first"), _lines("last"), texts("numbers", UNIT, dy=-10, **SMALL)]
    for name, is_named in zip(("inputs", "units", "answer"), has_names, strict=True):
        layers += _nodes(name, has_names=is_named, is_large=name == "answer")
    return fixed_size(layers, WIDTH, height)


def _heights(n: int) -> list[float]:
    return [(index + 0.5) / n for index in range(n)]


def _listed(numbers: Sequence[float] | np.ndarray) -> str:
    return ", ".join(map(short, numbers))


def _weight(numbers: np.ndarray) -> tuple[float, str]:
    return (float(numbers[0]), short(numbers[0])) if len(numbers) == 1 else (np.nan, f"({_listed(numbers)})")


def _edges(edges: Sequence[Edge]) -> Columns:
    names = "left", "top", "right", "bottom", "weight", "text"
    data: Columns = dict(zip(names, map(list, zip(*edges, strict=True)), strict=True))
    sizes = np.abs(weights := np.array(data.pop("weight")))
    largest = max(np.nanmax(sizes, initial=0.0), 1e-9)
    data["width"] = np.where(np.isnan(sizes), 1.5, THICKEST * sizes / largest)
    data["fill"] = [GREY if weight != weight else UP if weight > 0 else DOWN for weight in weights]
    return data


def _lines(name: str) -> alt.Chart:
    look = {"color": FILL, "strokeWidth": alt.StrokeWidth("width:Q", scale=None)}
    return named(name).mark_rule(aria=False).encode(**UNIT, **look, tooltip=[alt.Tooltip("text:N", title="weight")])


def _circles(x: float, nodes: Sequence[Node]) -> Columns:
    colours = [ROLE_COLOURS[node.role] for node in nodes]
    dark = is_dark(np.array([getcolor(colour, "RGB") for colour in colours]))
    ink = np.where(dark, "white", DARK_COLOUR)
    texts_of = {"text": [node.inside for node in nodes], "name": [node.name for node in nodes]}
    return rectangles(x, _heights(len(nodes)), fill=colours, ink=ink, **texts_of)


def _nodes(name: str, *, has_names: bool = False, is_large: bool = False) -> Iterator[alt.Chart]:
    style: dict[str, Any] = {"fontSize": 13, "fontWeight": "bold"} if is_large else {"fontSize": 12}
    circles = named(name).mark_circle(**QUIET, size=2000 if is_large else 1400, opacity=1)
    yield circles.encode(UNIT["x"], UNIT["y"], color=FILL)
    yield texts(name, UNIT, **style).encode(color=INK)
    if has_names:
        yield texts(name, UNIT, "name", dy=36 if is_large else 30, **SMALL)
