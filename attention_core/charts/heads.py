"""All heads of one kind of attention side by side, layers downwards: one small picture a head, a click chooses it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import altair as alt
import numpy as np
import pandas as pd

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts.bars import before_after_bars
from attention_core.charts.layers import clickable, corners, fixed, haloed, pointer
from attention_core.charts.mosaic import Mosaic
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.charts.scale import colour_bar, colour_bar_layer, colour_scale, names_at
from attention_core.device import to_array

HEAD, LEFT = 18, 18
LABEL = "#7d8794"


def masked_weights(trace: AttentionTrace, head: int) -> np.ndarray:
    """Return a head's weights (n_queries, n_keys) for a chart: NaN where a query may not attend."""
    weights, allowed = trace.weights(head), trace.allowed(head)
    if allowed is not None:
        weights = weights.masked_fill(~allowed, float("nan"))
    return to_array(weights.float())


def heads_chart(
    pictures: Mosaic,
    notes: Sequence[Sequence[str]],
    *,
    chosen: tuple[int, int],
    off: Collection[tuple[int, int]] = (),
    select: str | None = None,
    title: str = "weight",
) -> alt.LayerChart:
    """Draw every head of every layer; queries downwards, keys to the right.

    Args:
        pictures: of all heads, see attention_core.charts.mosaic.
        notes: for each layer and head, a phrase for the tooltip.
        chosen: (layer, head) to frame.
        off: (layer, head) of heads that are switched off, crossed out.
        select: name of a point selection over heads (fields layer and head), or None.
        title: of the colour bar.
    """
    down, right = pictures.height + pictures.gap, pictures.width + pictures.gap
    n_layers, n_heads = len(pictures.n_heads), max(pictures.n_heads)
    frame = pd.DataFrame(
        [
            {
                "layer": layer,
                "head": head,
                "left": LEFT + head * right,
                "right": LEFT + head * right + pictures.width,
                "top": HEAD + layer * down,
                "bottom": HEAD + layer * down + pictures.height,
                "next": LEFT + (head + 1) * right,
                "below": HEAD + (layer + 1) * down,
                "name": f"layer {layer + 1}, head {head + 1}",
                "note": notes[layer][head],
                "largest": pictures.largest[layer][head],
                "is_off": (layer, head) in off,
            }
            for layer, its_heads in enumerate(pictures.n_heads)
            for head in range(its_heads)
        ]
    )
    width, height = LEFT + n_heads * right, HEAD + n_layers * down
    space = corners(width, height)
    x, y = space["x"], space["y"]
    place = {"left": LEFT, "right": width - pictures.gap, "top": HEAD, "bottom": height - pictures.gap}
    image = alt.Chart(pd.DataFrame([{**place, "url": pictures.url}]))
    crosses = alt.Chart(frame[frame["is_off"]])
    layer_marks = [
        _bar(pictures, title),
        image.mark_image(smooth=True, aspect=False, aria=False).encode(
            **space, url=alt.Url("url:N")
        ),  # narrow pages shrink it
        *_names(n_layers, n_heads, right, down, pictures, x, y),
        crosses.mark_rect(color="#10141a", opacity=0.55, aria=False).encode(**space),
        crosses.mark_text(
            text="off", fontSize=13, color="#ffffff", dx=pictures.width / 2, dy=pictures.height / 2, aria=False
        ).encode(x=x, y=y),
    ]
    here = frame[(frame["layer"] == chosen[0]) & (frame["head"] == chosen[1])]
    layer_marks += haloed(alt.Chart(here).encode(**space).mark_rect, ROLE_COLOURS[Role.QUERY], (5, 3), fillOpacity=0)
    tooltip = [alt.Tooltip("name:N", title="head"), alt.Tooltip("note:N", title="looks")]
    if pictures.of_its_own:
        tooltip.append(alt.Tooltip("largest:Q", title=f"largest {title}", format=".3~g"))
    mouse = (
        alt.Chart(frame)
        .mark_rect(opacity=0, **pointer(select))
        .encode(x=x, x2=alt.X2("next"), y=y, y2=alt.Y2("below"), tooltip=tooltip)
    )
    return fixed([*layer_marks, clickable(mouse, select, "layer", "head")], width, height)


def _bar(pictures: Mosaic, title: str) -> alt.Chart:
    """Return the layer with the colour bar; where each picture has its own colours it ends at its own largest."""
    if not pictures.of_its_own:
        return colour_bar_layer(pictures.ramp, title, 200)
    ramp = pictures.ramp
    names = f"datum.value == 0 ? '0' : datum.value == 1 ? 'its largest' : '{ramp.reference_label}'"
    bar = colour_bar(ramp, f"{title}, each picture up to its own largest", 200).copy()
    bar.labelExpr, bar.titleLimit = names, 400
    ends = alt.Chart(pd.DataFrame({"value": [ramp.low, ramp.high]})).mark_point(opacity=0, size=0, aria=False)
    return ends.encode(color=alt.Color("value:Q", scale=colour_scale(ramp), legend=bar))


def _names(n_layers: int, n_heads: int, right: int, down: int, pictures: Mosaic, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Write "head 1" and so on above the columns, "layer 1" and so on beside the rows; numbers where they are small."""
    roomy = min(right, down) >= 45
    every = 1 if roomy else -(-22 // min(right, down))
    above = pd.DataFrame(
        [
            {"left": LEFT + head * right + pictures.width / 2, "top": HEAD - 5, "text": _named("head", head, roomy)}
            for head in range(0, n_heads, every)
        ]
    )
    beside = pd.DataFrame(
        [
            {"left": LEFT - 6, "top": HEAD + layer * down + pictures.height / 2, "text": _named("layer", layer, roomy)}
            for layer in range(0, n_layers, every)
        ]
    )
    style = {"fontSize": 11, "color": LABEL, "aria": False, "tooltip": None}
    return [
        alt.Chart(above).mark_text(baseline="bottom", **style).encode(x=x, y=y, text=alt.Text("text:N")),
        alt.Chart(beside).mark_text(angle=270, baseline="bottom", **style).encode(x=x, y=y, text=alt.Text("text:N")),
    ]


def _named(what: str, place: int, roomy: bool) -> str:
    return f"{what} {place + 1}" if roomy else str(place + 1)


def worth_chart(worth: np.ndarray, *, size: int = 300) -> alt.LayerChart:
    """Draw what the translation loses without each head, (n_layers, n_heads) in nats, around 0."""
    from attention_core.attention.types import Axis
    from attention_core.charts.heatmap import matrix_chart

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
    names = ["as trained", "edited"]
    angle = 0 if len(pieces) <= 14 else -45
    up = alt.Axis(format="%", tickCount=3)
    bars = before_after_bars(pieces, before, after, names, fields=("piece", "model")).encode(
        x=alt.X(
            "place:O",
            title=None,
            axis=alt.Axis(labelExpr=names_at(pieces), labelAngle=angle, labelLimit=80, ticks=False),
        ),
        xOffset=alt.XOffset("model:N", sort=names),
        y=alt.Y("probability:Q", title="probability of the piece", scale=alt.Scale(domain=[0, 1]), axis=up),
    )
    return bars.properties(height=height)
