"""All heads of a model at once: a small picture of each in one image, one number of each as a map.

144 heads of 512 tokens take half a second. Each picture is made from blocks of rows and reduced on the way to the
pixels that it has on the screen, so that the matrices of all heads are never in memory together.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace, check_pairs
from attention_core.attention.view.colours import MIN_RANGE, PINKS, UNIFORM_AT
from attention_core.charts import layers
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import Columns, rectangles
from attention_core.charts.layers import EDGE, QUIET, Bar, named
from attention_core.charts.png import palette_png
from attention_core.charts.ramps import TEXT_COLOUR, Ramp
from attention_core.device import to_array
from attention_core.explain.heads import MAX_HEAD_CELLS, head_rows

MAX_CELLS = 36_000_000  # weights computed for one mosaic; with more, each picture shows a sample of the queries
MAX_BYTES = 1_500_000  # of the image's file; 4/3 of it goes to the browser
GAP = 9  # screen pixels between pictures; fewer where they are small


@dataclass(frozen=True)
class Mosaic:
    """Pictures of all heads, layers downwards, heads to the right."""

    url: bytes  # the image, a PNG, at the pixels of the screen
    width: int  # of one picture, screen pixels
    height: int
    gap: int  # between pictures
    n_heads: tuple[int, ...]  # of each layer
    largest: tuple[tuple[float, ...], ...]  # of each layer and head, the largest number in its matrix
    ramp: Ramp  # what the colours mean, up to each picture's own largest number, see head_ramp
    n_rows: int  # queries that were computed
    n_queries: int  # queries there are


def mosaic(traces: Sequence[AttentionTrace], *, size: int = 78) -> Mosaic:
    """Draw every head of every layer: one trace per layer, all of one shape; a picture's longer side has `size` pixels.

    Pictures are coloured up to their own largest numbers: weights of long inputs are so small that only this shows
    their pattern.
    """
    check_pairs(*traces)
    n_queries, n_keys = traces[0].n_queries, traces[0].n_keys
    height, width = (max(size // 4, round(size * n / max(n_queries, n_keys))) for n in (n_queries, n_keys))
    gap = GAP if size >= 40 else 3
    n_heads = tuple(trace.n_heads for trace in traces)
    max_rows = max(height, min(MAX_CELLS // sum(n_heads), MAX_HEAD_CELLS) // n_keys)
    shares = np.zeros((len(traces) * (height + gap) - gap, max(n_heads) * (width + gap) - gap), dtype=np.float32)
    is_gap = np.ones(shares.shape, dtype=bool)
    ramp = Ramp(PINKS, 0.0, 1.0, 1.0, UNIFORM_AT, f"1/{n_keys}")
    largest, rows, edges = [], *_sampled(n_queries, height, max_rows)
    for layer, trace in enumerate(traces):
        largest.append([0.0] * trace.n_heads)
        for head in range(trace.n_heads):
            picture = _reduced(trace, head, rows, edges, width)
            high = float(np.nanmax(picture, initial=0.0))
            largest[layer][head] = high
            top, left = layer * (height + gap), head * (width + gap)
            area = slice(top, top + height), slice(left, left + width)
            shares[area] = np.where(np.isnan(picture), np.nan, head_ramp(1 / n_keys, high).position(picture))
            is_gap[area] = False
    return Mosaic(
        url=palette_png(shares, ramp, MAX_BYTES, is_gap),
        width=width,
        height=height,
        gap=gap,
        n_heads=n_heads,
        largest=tuple(tuple(row) for row in largest),
        ramp=ramp,
        n_rows=len(rows),
        n_queries=n_queries,
    )


def head_ramp(uniform: float, largest: float) -> Ramp:
    """Return the ramp of one picture: from 0 through the uniform weight, at UNIFORM_AT, to the largest number in it.

    Where nothing is larger it goes to MIN_RANGE times the uniform weight, though never beyond 1 on its account.
    """
    high = max(largest, min(MIN_RANGE * uniform, 1.0), 1e-30)
    ratio = min(uniform / high, 0.999)
    exponent = min(1.0, float(np.log(UNIFORM_AT) / np.log(ratio)))
    return Ramp(PINKS, 0.0, high, exponent)


def _sampled(n: int, n_pixels: int, max_rows: int) -> tuple[Tensor, np.ndarray]:
    """Return the rows to compute, evenly spaced in each pixel's share of them, and where each pixel's begin."""
    if n <= n_pixels:  # rows are repeated when they are painted
        return torch.arange(n), np.arange(n_pixels) * n // n_pixels
    edges = np.arange(n_pixels + 1) * n // n_pixels
    if n <= max_rows:
        return torch.arange(n), edges[:-1]
    n_each = max(1, max_rows // n_pixels)
    rows = [np.unique(np.linspace(low, high, n_each, endpoint=False).astype(int)) for low, high in pairwise(edges)]
    return torch.from_numpy(np.concatenate(rows)), np.cumsum([0, *map(len, rows)])[:-1]


def _reduced(trace: AttentionTrace, head: int, rows: Tensor, edges: np.ndarray, width: int) -> np.ndarray:
    """Return a head's picture, (len(edges), width): the largest number behind each pixel, NaN where all is masked."""
    _, weights, _, allowed = head_rows(trace, head, rows)
    cells = to_array((weights if allowed is None else weights.masked_fill(~allowed, -1)).float())
    lines = cells[edges] if len(rows) <= len(edges) else np.maximum.reduceat(cells, edges)
    starts = np.arange(width) * trace.n_keys // width
    pixels = lines[:, starts] if trace.n_keys <= width else np.maximum.reduceat(lines, starts, axis=1)
    return np.where(pixels < 0, np.nan, pixels)


HEAD, LEFT = 18, 18
BAR = "weight, each picture up to its own largest, not linear"


def masked_weights(trace: AttentionTrace, head: int) -> np.ndarray:
    """Return a head's weights (n_queries, n_keys) for a chart: NaN where a query may not attend."""
    check_pairs(trace)
    return masked(trace.weights(head), trace.allowed(head))


def masked(values: Tensor, allowed: Tensor | None) -> np.ndarray:
    """Return numbers (n_queries, n_keys) for a chart: NaN where a query may not attend."""
    return to_array((values if allowed is None else values.masked_fill(~allowed, float("nan"))).float())


def heads_chart(
    pictures: Mosaic,
    notes: Sequence[Sequence[str]],
    *,
    chosen: tuple[int, int] = (-1, -1),
    off: Collection[tuple[int, int]] = (),
    select: str | None = None,
    has_bar: bool = True,
    first: int = 1,
) -> Chart:
    """Draw every head of every layer; queries downwards, keys to the right, with a colour bar or without.

    Notes are what the tooltip says of each layer and head; the chosen (layer, head) is framed, those that are off
    are crossed out; a point selection over heads has the fields layer and head. The first layer and head are called
    by the number `first`.
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
        "name": [f"layer {layer + first}, head {head + first}" for layer, head in heads],
        "note": [notes[layer][head] for layer, head in heads],
        "largest": [pictures.largest[layer][head] for layer, head in heads],
    }
    width, height, gap = LEFT + n_heads * right, HEAD + n_layers * down, pictures.gap
    crossed = rectangles(left[is_off], top[is_off], pictures.width, pictures.height, text="off")
    is_chosen = (rows == chosen[0]) & (cols == chosen[1])
    above, beside = _names(pictures, right, down, first)
    spec = _heads_chart(
        bar=Bar.of(pictures.ramp, BAR, 200) if has_bar else None,
        picture_size=(pictures.width, pictures.height),
        select=select,
        size=(width, height),
    )
    return Chart(
        spec,
        {
            **({"bar": layers.bar_data(pictures.ramp)} if has_bar else {}),
            "image": rectangles(LEFT, HEAD, width - gap - LEFT, height - gap - HEAD, url=pictures.url),
            "edges": rectangles(left, top, pictures.width, pictures.height),
            "above": above,
            "beside": beside,
            "crossed": crossed,
            "chosen": rectangles(left[is_chosen], top[is_chosen], pictures.width, pictures.height),
            "heads": data,
        },
    )


@compiled
def _heads_chart(
    bar: Bar | None, picture_size: tuple[int, int], select: str | None, size: tuple[int, int]
) -> alt.LayerChart:
    space, (across, down) = layers.corners(*size), picture_size
    small: dict[str, Any] = {"fontSize": 12, "color": TEXT_COLOUR, "baseline": "bottom"}
    ticks = "datum.value == 0 ? '0' : datum.value == 1 ? 'its largest' : data('bar')[1].name"
    drawing = [
        *([layers.bar_layer(bar, labelExpr=ticks, titleLimit=400)] if bar else []),
        layers.images("image", space, smooth=True),  # narrow pages shrink it
        named("edges").mark_rect(**EDGE).encode(**space),
        layers.texts("above", space, **small),
        layers.texts("beside", space, angle=270, **small),
        named("crossed").mark_rect(**QUIET, color="#10141a", opacity=0.55).encode(**space),
        layers.texts("crossed", space, fontSize=13, color="#ffffff", dx=across / 2, dy=down / 2),
        *layers.halo_outlines("chosen", space, (5, 3)),
    ]
    tooltip = [
        alt.Tooltip("name:N", title="head"),
        alt.Tooltip("note:N", title="looks"),
        alt.Tooltip("largest:Q", title="largest weight", format=".3~g"),
    ]
    around = {**space, "x2": alt.X2("next"), "y2": alt.Y2("below")}
    mouse = layers.hover_cells("heads", around, *tooltip, cursor="pointer" if select else "default")
    drawing.append(layers.clickable(mouse, select, "layer", "head") if select else mouse)
    return layers.fixed_size(drawing, *size)


def _names(pictures: Mosaic, right: int, down: int, first: int) -> tuple[Columns, Columns]:
    """Number the columns and the rows; where there is room the first ones say what they are, "head 1" and "layer 1"."""
    has_room = min(right, down) >= 45
    every = 1 if has_room else -(-22 // min(right, down))
    heads, rows = (np.arange(0, n, every) for n in (max(pictures.n_heads), len(pictures.n_heads)))
    numbers = [[str(index + first) for index in indices] for indices in (heads, rows)]
    if has_room:
        numbers[0][0], numbers[1][0] = f"head {first}", f"layer {first}"
    above = rectangles(LEFT + heads * right + pictures.width / 2, HEAD - 5)
    beside = rectangles(LEFT - 6, HEAD + rows * down + pictures.height / 2)
    return above | {"text": numbers[0]}, beside | {"text": numbers[1]}
