"""A feed-forward network beside the pairs of attention: one weight per input against one number per pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.design import Design, alt
from attention_core.charts.layers import fixed
from attention_core.charts.marks import SILENT, haloed, texts, tips
from attention_core.charts.palette import DARK, GREY, ROLE_COLOURS, WORDS, Ramp
from attention_core.charts.product import short
from attention_core.charts.scale import colour_bar_layer, from_to, painted


def neuron_chart(
    weights: np.ndarray,
    inputs: np.ndarray,
    labels: Sequence[str],
    *,
    size: tuple[int, int] = (430, 230),
    bent: str = "",
) -> Design:
    """Draw w1 x1 + w2 x2 + ... = y: inputs on the left, an edge with its weight for each, their sum on the right.

    Weights, the neuron's own numbers, and inputs are (n, d), with a label per input. A neuron that bends its sum has
    `bent`, what comes out; the sum then stands below it.
    """
    n = len(inputs)
    parts = (weights * inputs).sum(1)
    total = short(float(parts.sum()))
    nodes = pd.DataFrame(
        {
            "x": 0.16,
            "y": _heights(n),
            "weight": [f"w{place + 1} = ({', '.join(short(w) for w in row)})" for place, row in enumerate(weights)],
            "part": [
                f"w{place + 1} · {label} = {short(float(part))}"
                for place, (label, part) in enumerate(zip(labels, parts, strict=True))
            ],
        }
    )
    space = _middles(1, 1)
    text = {"align": "left", "fontSize": 12, "color": WORDS, "tooltip": None}
    ends = [(0.56, height, 0.83, 0.5, "") for height in nodes["y"]]
    layers = [
        *_edges(ends),
        *_dots([(0.07, height, label, "") for height, label in zip(nodes["y"], labels, strict=True)], Role.INPUT),
        texts(nodes, space, "weight", dy=-8, **text),
        texts(nodes, space, "part", dy=9, **text),
        *_dots([(0.83, 0.5, bent or total, f"y = tanh({total})" if bent else "y")], Role.OUTPUT),
    ]
    return fixed(layers, *size)


def layers_chart(
    weights: np.ndarray,
    units: Sequence[float],
    second: Sequence[float],
    answer: float,
    labels: Sequence[str],
    *,
    size: tuple[int, int] = (430, 230),
) -> Design:
    """Draw two layers: every input has an edge to every unit, and a last neuron adds the units up.

    Weights are (n_units, n, d), told on hover; a unit says a number and has a second weight.
    """
    heights, middles = _heights(len(labels)), _heights(len(units))
    first = [
        (0.07, height, 0.45, middle, f"({', '.join(short(w) for w in weights[unit, place])})")
        for unit, middle in enumerate(middles)
        for place, height in enumerate(heights)
    ]
    last = [(0.45, middle, 0.83, 0.5, short(weight)) for middle, weight in zip(middles, second, strict=True)]
    hidden = [
        (0.45, middle, short(unit), f"h{place + 1}")
        for place, (middle, unit) in enumerate(zip(middles, units, strict=True))
    ]
    on_edges = [{"x": (x + x_end) / 2, "y": (y + y_end) / 2, "text": weight} for x, y, x_end, y_end, weight in last]
    layers = [
        *_edges([*first, *last]),
        texts(pd.DataFrame(on_edges), _middles(1, 1), dy=-10, fontSize=12, color=WORDS, tooltip=None),
        *_dots([(0.07, height, label, "") for height, label in zip(heights, labels, strict=True)], Role.INPUT),
        *_dots(hidden, Role.INPUT),
        *_dots([(0.83, 0.5, short(answer), "y")], Role.OUTPUT),
    ]
    return fixed(layers, *size)


def _heights(n: int) -> list[float]:
    return [(place + 0.5) / n for place in range(n)]


def _edges(ends: Sequence[tuple[float, float, float, float, str]]) -> list[Any]:
    """Return lines from (x, y) to (x_end, y_end), whose weights are told on hover."""
    frame = pd.DataFrame(ends, columns=["x", "y", "x_end", "y_end", "weight"])
    line = alt.Chart(frame).mark_rule(color=GREY, strokeWidth=1.5, aria=False)
    return [line.encode(**_middles(1, 1), x2=alt.X2("x_end"), y2=alt.Y2("y_end"), tooltip=tips("weight:N"))]


def _dots(nodes: Sequence[tuple[float, float, str, str]], role: Role) -> list[Any]:
    """Return circles at (x, y) with a text inside and one below."""
    frame, space = pd.DataFrame(nodes, columns=["x", "y", "label", "under"]), _middles(1, 1)
    large = role is Role.OUTPUT
    circle = alt.Chart(frame).mark_circle(size=1900 if large else 1000, color=ROLE_COLOURS[role], opacity=1, **SILENT)
    inside = {"color": "white", "fontSize": 13 if large else 12, "tooltip": None}
    if large:
        inside["fontWeight"] = "bold"
    return [
        circle.encode(**space),
        texts(frame, space, "label", **inside),
        texts(frame, space, "under", dy=36 if large else 26, fontSize=12, color=WORDS, tooltip=None),
    ]


def _middles(width: float, height: float) -> dict[str, Any]:
    """Return the channels of middles, (0, 0) at the top left, without axes."""
    x = alt.X("x:Q", axis=None, scale=from_to(0, width))
    return {"x": x, "y": alt.Y("y:Q", axis=None, scale=from_to(height, 0))}


def pair_cells(
    values: np.ndarray,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    ramp: Ramp,
    *,
    title: str,
    size: int = 230,
    marked: tuple[int, int] | None = None,
) -> Design:
    """Draw the cartesian product of rows and columns: every pair a cell with its name and its number.

    Values are (n_rows, n_columns), not finite = masked. Rows ask and columns are asked. The marked (row, column) is
    framed; the longer side has so many screen pixels, and the title is that of the colour bar.
    """
    n_rows, n_cols = values.shape
    rows, cols = np.indices(values.shape)
    fill, ink = painted(values, ramp)
    frame = pd.DataFrame(
        {
            "x": cols.ravel() + 0.5,
            "y": rows.ravel() + 0.5,
            "pair": [f"({row_labels[row]}, {column_labels[col]})" for row in range(n_rows) for col in range(n_cols)],
            "text": [short(value) if np.isfinite(value) else "-∞" for value in values.ravel()],
            "fill": fill.ravel(),
            "ink": ink.ravel(),
            "chosen": [(row, col) == marked for row in range(n_rows) for col in range(n_cols)],
        }
    )
    cell = size / max(values.shape)
    space, square = _middles(n_cols, n_rows), {"width": cell - 2, "height": cell - 2}
    base = alt.Chart(frame).encode(**space)
    cells = base.mark_rect(**square, aria=False)
    layers = [cells.encode(color=alt.Color("fill:N", scale=None), tooltip=tips("pair:N", "text:N"))]
    if marked is not None:
        chosen = base.transform_filter("datum.chosen")
        layers += haloed(chosen.mark_rect, (5, 2.5), DARK, **square, fillOpacity=0, tooltip=None)
    colour = alt.Color("ink:N", scale=None)
    named = max(map(len, frame["pair"])) * 6 < cell
    if named:
        layers.append(texts(frame, space, "pair", dy=-9, fontSize=11, tooltip=None).encode(color=colour))
    layers.append(texts(frame, space, dy=9 if named else 0, fontSize=13, tooltip=None).encode(color=colour))
    layers.append(colour_bar_layer(ramp, title, min(size - 20, 220)))
    return fixed(layers, round(cell * n_cols), round(cell * n_rows))
