"""Small feed-forward networks as circles and lines: a neuron, and two layers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from PIL.ImageColor import getcolor

from attention_core.attention.types import Role
from attention_core.charts import vega as vl

UNIT = vl.corners(1, 1)
WIDTH, HEIGHT, APART = 430, 230, 46
"""Screen pixels: of the whole, which is higher where there are many circles, and from one circle to the next."""
LEFT, MIDDLE, RIGHT = 0.07, 0.45, 0.83  # where inputs, units and the answer stand
NEAR = 0.32  # how far from its unit to the answer a weight stands
THICKEST = 5.0  # screen pixels of a line
SMALL: dict[str, Any] = {"fontSize": 12, "color": vl.TEXT_COLOUR}
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


def neuron_chart(weights: np.ndarray, inputs: np.ndarray, labels: Sequence[str], *, bent: str = "") -> vl.Chart:
    """Draw w1 x1 + w2 x2 + ... = y for a neuron's weights and inputs, (n, d), with a label per input.

    A neuron that bends its sum has `bent`, what comes out; the sum then stands below it.
    """
    parts = (weights * inputs).sum(1)
    total, heights, numbers = short(float(parts.sum())), _heights(len(labels)), range(1, len(labels) + 1)
    of_input = [f"w{i} = ({_listed(row)})" for i, row in zip(numbers, weights, strict=True)]
    of_part = [f"w{i} · {label} = {short(part)}" for i, label, part in zip(numbers, labels, parts, strict=True)]
    layers = [
        _edges([(*ends, np.nan, "") for y in heights for ends in ((LEFT, y, 0.56, y), (0.56, y, RIGHT, 0.5))]),
        *_circles(LEFT, [Node(label) for label in labels]),
        vl.texts(vl.rectangles(0.16, heights, text=of_input), UNIT, align="left", dy=-11, **SMALL),
        vl.texts(vl.rectangles(0.16, heights, text=of_part), UNIT, align="left", dy=12, **SMALL),
        *_circles(RIGHT, [Node(bent or total, f"y = tanh({total})" if bent else "y")], is_large=True),
    ]
    return vl.fixed_size(layers, WIDTH, HEIGHT)


def layers_chart(
    inputs: Sequence[Node], weights: np.ndarray, units: Sequence[Node], second: Sequence[float], answer: Node
) -> vl.Chart:
    """Draw two layers: every input has an edge to every unit, and a last neuron adds the units up.

    Weights are (n_units, n, d), told on hover, and a unit has a second weight. An edge of one number is as wide as that
    is large in its layer, and has the colour of its sign.
    """
    heights, middles = _heights(len(inputs)), _heights(len(units))
    first = [
        (LEFT, height, MIDDLE, middle, *_weight(weights[unit, place]))
        for unit, middle in enumerate(middles)
        for place, height in enumerate(heights)
    ]
    last = [(MIDDLE, middle, RIGHT, 0.5, weight, short(weight)) for middle, weight in zip(middles, second, strict=True)]
    near = [MIDDLE + NEAR * (RIGHT - MIDDLE)] * len(last), [middle + NEAR * (0.5 - middle) for middle in middles]
    layers = [
        _edges(first),
        _edges(last),
        vl.texts(vl.rectangles(*near, text=[text for *_, text in last]), UNIT, dy=-10, **SMALL),
        *_circles(LEFT, inputs),
        *_circles(MIDDLE, units),
        *_circles(RIGHT, [answer], is_large=True),
    ]
    return vl.fixed_size(layers, WIDTH, max(HEIGHT, APART * max(len(inputs), len(units))))


def _heights(n: int) -> list[float]:
    return [(place + 0.5) / n for place in range(n)]


def _listed(numbers: Sequence[float] | np.ndarray) -> str:
    return ", ".join(map(short, numbers))


def _weight(numbers: np.ndarray) -> tuple[float, str]:
    return (float(numbers[0]), short(numbers[0])) if len(numbers) == 1 else (np.nan, f"({_listed(numbers)})")


def _edges(edges: Sequence[Edge]) -> vl.Chart:
    names = "left", "top", "right", "bottom", "weight", "text"
    data: vl.Columns = dict(zip(names, map(list, zip(*edges, strict=True)), strict=True))
    sizes = np.abs(weights := np.array(data.pop("weight")))
    largest = max(np.nanmax(sizes, initial=0.0), 1e-9)
    data["width"] = np.where(np.isnan(sizes), 1.5, THICKEST * sizes / largest)
    data["fill"] = [vl.GREY if weight != weight else vl.UP if weight > 0 else vl.DOWN for weight in weights]
    width = vl.field("width:Q", scale=None)
    return vl.mark("rule", data, UNIT, ("text:N", "weight"), color=vl.FILL, strokeWidth=width, aria=False)


def _circles(x: float, nodes: Sequence[Node], *, is_large: bool = False) -> list[vl.Chart]:
    colours = [vl.ROLE_COLOURS[node.role] for node in nodes]
    dark = vl.is_dark(np.array([getcolor(colour, "RGB") for colour in colours]))
    data = vl.rectangles(x, _heights(len(nodes)), fill=colours, text=[node.inside for node in nodes])
    data["ink"] = np.where(dark, "white", vl.DARK_COLOUR)
    style: dict[str, Any] = {"fontSize": 13, "fontWeight": "bold"} if is_large else {"fontSize": 12}
    place = {"x": UNIT["x"], "y": UNIT["y"]}
    layers = [
        vl.mark("circle", data, place, size=2000 if is_large else 1400, color=vl.FILL, opacity=1),
        vl.texts(data, UNIT, color=vl.INK, **style),
    ]
    if any(node.name for node in nodes):
        names = data | {"text": [node.name for node in nodes]}
        layers.append(vl.texts(names, UNIT, dy=36 if is_large else 30, **SMALL))
    return layers
