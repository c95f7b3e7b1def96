"""A feed-forward neuron beside the pairs of attention: one weight per input against one number per pair."""

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
    weights: np.ndarray, inputs: np.ndarray, labels: Sequence[str], *, size: tuple[int, int] = (430, 230)
) -> Design:
    """Draw w1 x1 + w2 x2 + ... = y: inputs on the left, an edge with its weight for each, their sum on the right.

    Weights, the neuron's own numbers, and inputs are (n, d), with a label per input.
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
            "weight": [f"w{place + 1} = ({', '.join(short(w) for w in row)})" for place, row in enumerate(weights)],
            "part": [
                f"w{place + 1} · {label} = {short(float(part))}"
                for place, (label, part) in enumerate(zip(labels, parts, strict=True))
            ],
        }
    )
    space = _middles(1, 1)
    at_dot, at_text = ({**space, "x": alt.X(f"{field}:Q", axis=None)} for field in ("dot", "text"))
    base = alt.Chart(frame)
    edge = base.mark_rule(color=GREY, strokeWidth=1.5, **SILENT)
    dot = base.mark_circle(size=1000, color=ROLE_COLOURS[Role.INPUT], opacity=1, **SILENT)
    text = {"align": "left", "fontSize": 12, "color": WORDS, "tooltip": None}
    end = pd.DataFrame([{"x": 0.83, "y": 0.5, "label": short(float(parts.sum())), "under": "y"}])
    total = alt.Chart(end).mark_circle(size=1900, color=ROLE_COLOURS[Role.OUTPUT], opacity=1, **SILENT)
    layers = [
        edge.encode(**space, x2=alt.X2("x_end"), y2=alt.Y2("y_end")),
        dot.encode(**at_dot),
        texts(frame, at_dot, "label", color="white", fontSize=12, tooltip=None),
        texts(frame, at_text, "weight", dy=-8, **text),
        texts(frame, at_text, "part", dy=9, **text),
        total.encode(**space),
        texts(end, space, "label", color="white", fontSize=13, fontWeight="bold", tooltip=None),
        texts(end, space, "under", dy=36, fontSize=12, color=WORDS, tooltip=None),
    ]
    return fixed(layers, *size)


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
