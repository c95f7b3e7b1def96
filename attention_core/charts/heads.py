"""All heads of one kind of attention side by side, layers downwards: one small picture a head, a click chooses it."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from attention_core.attention.trace import AttentionTrace
from attention_core.charts.design import Chart, alt
from attention_core.charts.layers import corners, fixed, rectangles
from attention_core.charts.marks import clickable, haloed, images, mark, mouse_cells, pointer, texts
from attention_core.charts.mosaic import Mosaic
from attention_core.charts.palette import WORDS
from attention_core.charts.scale import colour_bar_layer
from attention_core.device import to_array

HEAD, LEFT = 18, 18


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
    chosen: tuple[int, int] = (-1, -1),
    off: Collection[tuple[int, int]] = (),
    select: str | None = None,
    title: str = "weight",
) -> Chart:
    """Draw every head of every layer; queries downwards, keys to the right.

    Notes are what the mouse is told of each layer and head; the chosen (layer, head) is framed, those that are off
    are crossed out; a point selection over heads has the fields layer and head.
    """
    down, right = pictures.height + pictures.gap, pictures.width + pictures.gap
    n_layers, n_heads = len(pictures.n_heads), max(pictures.n_heads)
    heads = [(layer, head) for layer, n in enumerate(pictures.n_heads) for head in range(n)]
    rows, cols = np.array(heads).T
    left, top = LEFT + cols * right, HEAD + rows * down
    is_off = np.array([head in off for head in heads])
    data = rectangles(left, top, pictures.width, pictures.height, layer=rows, head=cols, is_off=is_off) | {
        "next": left + right,
        "below": top + down,
        "name": [f"layer {layer + 1}, head {head + 1}" for layer, head in heads],
        "note": [notes[layer][head] for layer, head in heads],
        "largest": [pictures.largest[layer][head] for layer, head in heads],
    }
    width, height = LEFT + n_heads * right, HEAD + n_layers * down
    space = corners(width, height)
    gap = pictures.gap
    whole = rectangles(LEFT, HEAD, width - gap - LEFT, height - gap - HEAD, url=pictures.url)
    crossed = rectangles(left[is_off], top[is_off], pictures.width, pictures.height, text="off")
    cross = {"fontSize": 13, "color": "#ffffff", "dx": pictures.width / 2, "dy": pictures.height / 2}
    is_chosen = (rows == chosen[0]) & (cols == chosen[1])
    here = rectangles(left[is_chosen], top[is_chosen], pictures.width, pictures.height)
    layers = [
        _bar(pictures, title),
        images(whole, space, smooth=True),  # narrow pages shrink it
        *_names(pictures, right, down, space),
        mark("rect", crossed, space, color="#10141a", opacity=0.55),
        texts(crossed, space, **cross),
        *haloed(here, space, (5, 3)),
    ]
    lines = [("name:N", "head"), ("note:N", "looks")]
    if pictures.of_its_own:
        lines.append(("largest:Q", f"largest {title}", ".3~g"))
    around = {**space, "x2": alt.X2("next"), "y2": alt.Y2("below")}
    mouse = mouse_cells(data, around, *lines, **pointer(select))
    return fixed([*layers, clickable(mouse, select, "layer", "head")], width, height)


def _bar(pictures: Mosaic, title: str) -> Chart:
    """Return the layer with the colour bar; where each picture has its own colours it ends at its own largest."""
    if not pictures.of_its_own:
        return colour_bar_layer(pictures.ramp, title, 200)
    names = f"datum.value == 0 ? '0' : datum.value == 1 ? 'its largest' : '{pictures.ramp.reference_label}'"
    title = f"{title}, each picture up to its own largest"
    return colour_bar_layer(pictures.ramp, title, 200, labelExpr=names, titleLimit=400)


def _names(pictures: Mosaic, right: int, down: int, space: dict[str, Any]) -> list[Chart]:
    """Write "head 1" and so on above the columns, "layer 1" and so on beside the rows; numbers where they are small."""
    roomy = min(right, down) >= 45
    every = 1 if roomy else -(-22 // min(right, down))
    heads, layers = (np.arange(0, n, every) for n in (max(pictures.n_heads), len(pictures.n_heads)))
    named = "{} {}" if roomy else "{1}"
    above = rectangles(LEFT + heads * right + pictures.width / 2, HEAD - 5)
    above["text"] = [named.format("head", head + 1) for head in heads]
    beside = rectangles(LEFT - 6, HEAD + layers * down + pictures.height / 2)
    beside["text"] = [named.format("layer", layer + 1) for layer in layers]
    style: dict[str, Any] = {"fontSize": 12, "color": WORDS, "baseline": "bottom"}
    return [texts(above, space, **style), texts(beside, space, angle=270, **style)]
