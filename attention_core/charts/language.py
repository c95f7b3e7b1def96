"""Charts of language models: what the cache keeps, and what is expected with and without a head."""

from __future__ import annotations

import json
from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.bars import before_after_bars
from attention_core.charts.layers import fixed, haloed
from attention_core.charts.palette import ROLE_COLOURS, VIRIDIS, Ramp
from attention_core.charts.raster import png_url
from attention_core.charts.scale import colour_bar_layer, names_at

MOST_TOOLTIPS = 4000
"""Cells beyond which an image answers the mouse no more."""


def kept_chart(
    lengths: np.ndarray,
    n_key_heads: Sequence[int],
    tokens: Sequence[str],
    *,
    role: Role,
    width: int = 560,
    height: int = 300,
) -> alt.LayerChart:
    """Draw what a cache keeps: a column per position, a row per layer and key head, the newest column framed.

    Args:
        lengths: float (n_layers * n_key_heads, n_tokens), of the kept vectors; NaN = forgotten, a grey cell.
        n_key_heads: of each layer.
        tokens: one per column.
        role: key or value, decides the frame's colour.
        width: screen pixels.
        height: screen pixels.
    """
    n_rows, n_cols = lengths.shape
    ramp = Ramp(VIRIDIS, 0.0, float(np.nanmax(lengths, initial=1e-6)))
    tops = np.concatenate([[0], np.cumsum(n_key_heads)[:-1]]).astype(int)
    names = {int(top): f"layer {layer + 1}" for layer, top in enumerate(tops)}
    every = -(-len(tops) // max(1, height // 16))
    labels = {str(col): token for col, token in enumerate(tokens)}
    step = -(-n_cols // max(1, width // 26))
    x = alt.X(
        "left:Q",
        title="tokens so far",
        scale=alt.Scale(domain=[0, n_cols], nice=False),
        axis=alt.Axis(
            values=[col + 0.5 for col in range(0, n_cols, step)],
            labelExpr=f"{json.dumps(labels)}[floor(datum.value)]",
            labelAngle=-45,
            labelLimit=70,
            labelOverlap=False,
            grid=False,
            ticks=False,
            domain=False,
        ),
    )
    y = alt.Y(
        "top:Q",
        title=None,
        scale=alt.Scale(domain=[n_rows, 0], nice=False),
        axis=alt.Axis(
            values=[int(top) for top in tops[::every]],
            labelExpr=f"{json.dumps(names)}[datum.value]",
            labelBaseline="top",
            grid=False,
            domain=False,
            tickSize=4,
        ),
    )
    corners = {"x": x, "x2": alt.X2("right"), "y": y, "y2": alt.Y2("bottom")}
    whole = pd.DataFrame([{"url": png_url(lengths, ramp), "left": 0, "right": n_cols, "top": 0, "bottom": n_rows}])
    newest = alt.Chart(pd.DataFrame([{"left": n_cols - 1, "right": n_cols, "top": 0, "bottom": n_rows}]))
    layers = [
        colour_bar_layer(ramp, f"length of the kept {role.value}", min(width, 220)),
        alt.Chart(whole).mark_image(smooth=False, aspect=False, aria=False).encode(**corners, url=alt.Url("url:N")),
        *haloed(newest.encode(**corners).mark_rect, ROLE_COLOURS[role], (5, 3), fillOpacity=0),
    ]
    if lengths.size <= MOST_TOOLTIPS:
        layers.append(_answers(lengths, n_key_heads, tokens, role, corners))
    return fixed(layers, width, height)


def _answers(
    lengths: np.ndarray, n_key_heads: Sequence[int], tokens: Sequence[str], role: Role, corners: dict
) -> alt.Chart:
    places = [(layer, head) for layer, n_heads in enumerate(n_key_heads) for head in range(n_heads)]
    frame = pd.DataFrame(
        [
            {
                "left": col,
                "right": col + 1,
                "top": row,
                "bottom": row + 1,
                "token": token,
                "where": f"layer {layer + 1}, key head {head + 1}",
                "length": "forgotten" if np.isnan(lengths[row, col]) else f"{lengths[row, col]:.3g}",
            }
            for row, (layer, head) in enumerate(places)
            for col, token in enumerate(tokens)
        ]
    )
    tooltip = [
        alt.Tooltip("token:N"),
        alt.Tooltip("where:N", title="kept in"),
        alt.Tooltip("length:N", title=f"length of the {role.value}"),
    ]
    return alt.Chart(frame).mark_rect(opacity=0, aria=False).encode(**corners, tooltip=tooltip)


def before_after_chart(
    labels: Sequence[str], before: Sequence[float], after: Sequence[float], *, names: tuple[str, str], height: int = 0
) -> alt.Chart:
    """Draw probabilities of the same things before and after a change, as pairs of horizontal bars.

    Args:
        labels: what they are the probabilities of.
        before: 0 to 1.
        after: 0 to 1.
        names: what before and after are called.
        height: screen pixels; by the number of labels if 0.
    """
    axis = alt.Axis(labelExpr=names_at(labels), ticks=False, labelLimit=130, labelOverlap=False)
    bars = before_after_bars(labels, before, after, names, decimals=3).encode(
        y=alt.Y("place:O", title=None, axis=axis),
        yOffset=alt.YOffset("when:N", sort=list(names)),
        x=alt.X("probability:Q", title=None, axis=alt.Axis(format="~%", tickCount=4)),
    )
    return bars.properties(height=height or 34 * len(labels) + 70)
