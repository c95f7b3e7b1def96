"""A feed-forward neuron beside the pairs of attention: one weight per input against one number per pair."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.layers import fixed, haloed
from attention_core.charts.palette import ROLE_COLOURS, Ramp
from attention_core.charts.product import short
from attention_core.charts.scale import colour_bar_layer, painted

FREE = {"aria": False, "tooltip": None}


def neuron_chart(
    weights: np.ndarray, inputs: np.ndarray, labels: Sequence[str], *, size: tuple[int, int] = (430, 230)
) -> alt.LayerChart:
    """Draw w1 x1 + w2 x2 + ... = y: inputs on the left, an edge with its weight for each, their sum on the right.

    Args:
        weights: float (n, d), the neuron's own numbers.
        inputs: float (n, d).
        labels: one per input.
        size: screen pixels, width and height.
    """
    n = len(inputs)
    parts = (weights * inputs).sum(1)
    frame = pd.DataFrame(
        {
            "dot": 0.07,
            "text": 0.16,
            "x": 0.56,
            "y": [(place + 0.5) / n for place in range(n)],
            "x_end": 0.83,
            "y_end": 0.5,
            "label": list(labels),
            "weight": [f"w{place + 1} = ({', '.join(short(one) for one in row)})" for place, row in enumerate(weights)],
            "part": [
                f"w{place + 1} · {label} = {short(float(part))}"
                for place, (label, part) in enumerate(zip(labels, parts, strict=True))
            ],
        }
    )
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, 1], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[1, 0], nice=False))
    base = alt.Chart(frame)
    edge = base.mark_rule(color="#8a93a0", strokeWidth=1.5, **FREE).encode(
        x=x, y=y, x2=alt.X2("x_end"), y2=alt.Y2("y_end")
    )
    at_dot, at_text = alt.X("dot:Q", axis=None), alt.X("text:Q", axis=None)
    dot = base.mark_circle(size=1000, color=ROLE_COLOURS[Role.INPUT], opacity=1, **FREE).encode(x=at_dot, y=y)
    name = base.mark_text(color="white", fontSize=12, **FREE).encode(x=at_dot, y=y, text=alt.Text("label:N"))
    text = {"align": "left", "fontSize": 12, "color": "#7d8794", **FREE}
    weight = base.mark_text(dy=-8, **text).encode(x=at_text, y=y, text=alt.Text("weight:N"))
    part = base.mark_text(dy=9, **text).encode(x=at_text, y=y, text=alt.Text("part:N"))
    end = pd.DataFrame([{"x": 0.83, "y": 0.5, "label": short(float(parts.sum())), "under": "y"}])
    total = alt.Chart(end).encode(x=x, y=y)
    out = [
        total.mark_circle(size=1900, color=ROLE_COLOURS[Role.OUTPUT], opacity=1, **FREE),
        total.mark_text(color="white", fontSize=13, fontWeight="bold", **FREE).encode(text=alt.Text("label:N")),
        total.mark_text(dy=36, fontSize=12, color="#7d8794", **FREE).encode(text=alt.Text("under:N")),
    ]
    return fixed([edge, dot, name, weight, part, *out], *size)


def pair_cells(
    values: np.ndarray,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    ramp: Ramp,
    *,
    title: str,
    size: int = 230,
    marked: tuple[int, int] | None = None,
) -> alt.LayerChart:
    """Draw the cartesian product of rows and columns: every pair a cell with its name and its number.

    Args:
        values: float (n_rows, n_columns); not finite = masked.
        row_labels: who asks.
        column_labels: who is asked.
        ramp: colours.
        title: of the colour bar.
        size: screen pixels of the longer side.
        marked: (row, column) of a pair to frame, or None.
    """
    n_rows, n_cols = values.shape
    rows, cols = np.indices(values.shape)
    fill, ink = painted(values, ramp)
    frame = pd.DataFrame(
        {
            "x": cols.ravel() + 0.5,
            "y": rows.ravel() + 0.5,
            "pair": [f"({row_labels[row]}, {column_labels[col]})" for row in range(n_rows) for col in range(n_cols)],
            "text": [short(one) if np.isfinite(one) else "-∞" for one in values.ravel()],
            "fill": fill.ravel(),
            "ink": ink.ravel(),
            "chosen": [(row, col) == marked for row in range(n_rows) for col in range(n_cols)],
        }
    )
    cell = size / max(values.shape)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, n_cols], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[n_rows, 0], nice=False))
    base = alt.Chart(frame).encode(x=x, y=y)
    layers = [
        base.mark_rect(width=cell - 2, height=cell - 2, aria=False).encode(
            color=alt.Color("fill:N", scale=None), tooltip=[alt.Tooltip("pair:N"), alt.Tooltip("text:N")]
        )
    ]
    if marked is not None:
        look = {"width": cell - 2, "height": cell - 2, "fillOpacity": 0, "tooltip": None}
        layers += haloed(base.transform_filter("datum.chosen").mark_rect, "#14181d", (5, 2.5), **look)
    colour = alt.Color("ink:N", scale=None)
    longest = max(map(len, frame["pair"]))
    if longest * 6 < cell:
        layers.append(base.mark_text(dy=-9, fontSize=11, **FREE).encode(text=alt.Text("pair:N"), color=colour))
    layers.append(
        base.mark_text(dy=9 if longest * 6 < cell else 0, fontSize=13, **FREE).encode(
            text=alt.Text("text:N"), color=colour
        )
    )
    layers.append(colour_bar_layer(ramp, title, min(size - 20, 220)))
    return fixed(layers, round(cell * n_cols), round(cell * n_rows))
