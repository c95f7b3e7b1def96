"""All heads of one kind of attention side by side, layers downwards: one small picture a head, a click chooses it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import altair as alt
import numpy as np
import pandas as pd

from attention_core.charts.palette import ROLE_COLOURS, weights_ramp
from attention_core.charts.raster import png_url
from attention_core.charts.scale import colour_bar_layer, fixed
from attention_core.trace import AttentionTrace, Role

GAP, HEAD, LEFT = 9, 18, 18
LABEL = "#7d8794"


def masked_weights(trace: AttentionTrace, head: int) -> np.ndarray:
    """Return a head's weights (n_queries, n_keys) for a chart: NaN where a query may not attend."""
    weights, allowed = trace.weights(head), trace.allowed(head)
    if allowed is not None:
        weights = weights.masked_fill(~allowed, float("nan"))
    return weights.detach().float().cpu().numpy()


def heads_chart(
    layers: Sequence[AttentionTrace],
    notes: Sequence[Sequence[str]],
    *,
    chosen: tuple[int, int],
    off: Collection[tuple[int, int]] = (),
    select: str | None = None,
    size: int = 78,
) -> alt.LayerChart:
    """Draw every head of every layer on one colour scale from 0 to 1; queries downwards, keys to the right.

    Args:
        layers: one trace per layer.
        notes: for each layer and head, a phrase for the tooltip.
        chosen: (layer, head) to frame.
        off: (layer, head) of heads that are switched off, crossed out.
        select: name of a point selection over heads (fields layer and head), or None.
        size: screen pixels of one picture.
    """
    n_heads = layers[0].n_heads
    frame = pd.DataFrame(
        [
            {
                "layer": layer,
                "head": head,
                "url": png_url(masked_weights(trace, head), weights_ramp(trace.n_keys)),
                "left": LEFT + head * (size + GAP),
                "right": LEFT + head * (size + GAP) + size,
                "top": HEAD + layer * (size + GAP),
                "bottom": HEAD + layer * (size + GAP) + size,
                "name": f"layer {layer + 1}, head {head + 1}",
                "note": notes[layer][head],
                "is_off": (layer, head) in off,
            }
            for layer, trace in enumerate(layers)
            for head in range(n_heads)
        ]
    )
    width, height = LEFT + n_heads * (size + GAP), HEAD + len(layers) * (size + GAP)
    x = alt.X("left:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False))
    y = alt.Y("top:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))
    corners = {"x": x, "x2": alt.X2("right"), "y": y, "y2": alt.Y2("bottom")}
    images = alt.Chart(frame).mark_image(smooth=False, aspect=False, aria=False).encode(**corners, url="url:N")
    crosses = alt.Chart(frame[frame["is_off"]])
    layer_marks = [
        colour_bar_layer(weights_ramp(layers[0].n_keys), "weight", 200),
        images,
        *_names(len(layers), n_heads, size, x, y),
        crosses.mark_rect(color="#10141a", opacity=0.55, aria=False).encode(**corners),
        crosses.mark_text(text="off", fontSize=13, color="#ffffff", dx=size / 2, dy=size / 2, aria=False).encode(
            x=x, y=y
        ),
    ]
    here = frame[(frame["layer"] == chosen[0]) & (frame["head"] == chosen[1])]
    for colour, stroke in (("white", 5), (ROLE_COLOURS[Role.QUERY], 3)):
        marks = alt.Chart(here).mark_rect(fillOpacity=0, stroke=colour, strokeWidth=stroke, aria=False)
        layer_marks.append(marks.encode(**corners))
    mouse = (
        alt.Chart(frame)
        .mark_rect(opacity=0, cursor="pointer" if select else "default", aria=False)
        .encode(**corners, tooltip=[alt.Tooltip("name:N", title="head"), alt.Tooltip("note:N", title="looks")])
    )
    if select:
        mouse = mouse.add_params(
            alt.selection_point(name=select, fields=["layer", "head"], on="click", empty=False, clear=False)
        )
    return fixed(alt.layer(*layer_marks, mouse), width, height)


def _names(n_layers: int, n_heads: int, size: int, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Write "head 1" and so on above the columns, "layer 1" and so on beside the rows."""
    step = size + GAP
    above = pd.DataFrame(
        [
            {"left": LEFT + head * step + size / 2, "top": HEAD - 5, "text": f"head {head + 1}"}
            for head in range(n_heads)
        ]
    )
    beside = pd.DataFrame(
        [
            {"left": LEFT - 6, "top": HEAD + layer * step + size / 2, "text": f"layer {layer + 1}"}
            for layer in range(n_layers)
        ]
    )
    style = {"fontSize": 11, "color": LABEL, "aria": False, "tooltip": None}
    return [
        alt.Chart(above).mark_text(baseline="bottom", **style).encode(x=x, y=y, text="text:N"),
        alt.Chart(beside).mark_text(angle=270, baseline="bottom", **style).encode(x=x, y=y, text="text:N"),
    ]


def worth_chart(worth: np.ndarray, *, size: int = 300) -> alt.LayerChart:
    """Draw what the translation loses without each head, (n_layers, n_heads) in nats, around 0."""
    from attention_core.charts.heatmap import matrix_chart
    from attention_core.trace import Axis

    layers = Axis("layer", [str(layer + 1) for layer in range(worth.shape[0])])
    heads = Axis("head", [str(head + 1) for head in range(worth.shape[1])])
    return matrix_chart(worth, layers, heads, Role.SCORES, title="log-probability lost", size=size)


def said_chart(pieces: Sequence[str], before: Sequence[float], after: Sequence[float], height: int = 210) -> alt.Chart:
    """Draw how probable each piece of the translation is, with all heads and with some switched off.

    Args:
        pieces: labels.
        before: probabilities with all heads.
        after: probabilities with the edits.
        height: screen pixels.
    """
    import json

    names = ["as trained", "edited"]
    frame = pd.DataFrame(
        [
            {"place": place, "piece": piece, "model": name, "probability": float(value)}
            for name, values in zip(names, (before, after), strict=True)
            for place, (piece, value) in enumerate(zip(pieces, values, strict=True))
        ]
    )
    labels = f"{json.dumps(list(pieces))}[datum.value]"
    return (
        alt.Chart(frame)
        .mark_bar(cornerRadiusEnd=1)
        .encode(
            x=alt.X(
                "place:O",
                title=None,
                axis=alt.Axis(labelExpr=labels, labelAngle=0 if len(pieces) <= 14 else -45, labelLimit=80, ticks=False),
            ),
            xOffset=alt.XOffset("model:N", sort=names),
            y=alt.Y(
                "probability:Q",
                title="probability of the piece",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", tickCount=3),
            ),
            color=alt.Color(
                "model:N",
                sort=names,
                scale=alt.Scale(domain=names, range=["#A9B4BF", ROLE_COLOURS[Role.CONTEXT]]),
                legend=alt.Legend(orient="top", title=None, offset=2),
            ),
            tooltip=["piece:N", "model:N", alt.Tooltip("probability:Q", format=".1%")],
        )
        .properties(height=height)
    )
