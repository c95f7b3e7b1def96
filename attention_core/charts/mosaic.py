"""Every head of every layer as one small picture, all of them in one image: 144 heads of 512 tokens in half a second.

Each picture is made from blocks of rows and reduced on the way to the pixels that it has on the screen, so that the
matrices of all heads are never in memory together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.pairs import ROWS_AT_ONCE
from attention_core.attention.trace import AttentionTrace
from attention_core.charts.palette import VIRIDIS, Ramp, weights_ramp
from attention_core.charts.raster import palette_url
from attention_core.device import to_array
from attention_core.explain.heads.look import PLAIN, HeadDisplay, shown, value_lengths
from attention_core.explain.heads.rows import whole_rows

MOST_CELLS = 120_000_000  # weights computed for one mosaic; with more, each picture shows a sample of the queries
MOST_BYTES = 1_500_000  # of the image's file; 4/3 of it goes to the browser
UNIFORM_AT = 0.3  # where on the ramp a picture with colours of its own has the weight of looking everywhere alike
LEAST_RANGE = 10
"""Its brightest colour is at least so many times that weight: a head that looks everywhere alike stays dull."""
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
    ramp: Ramp  # what the colours mean; see own_ramp where each picture has its own
    of_its_own: bool  # whether each picture is coloured up to its own largest number
    n_rows: int  # queries that were computed
    n_queries: int  # queries there are


def mosaic(
    layers: Sequence[AttentionTrace], *, size: int = 78, look: HeadDisplay = PLAIN, of_its_own: bool = False
) -> Mosaic:
    """Draw every head of every layer: one trace per layer, all of one shape; a picture's longer side has `size` pixels.

    Pictures are coloured up to their own largest numbers, rather than all from 0 to 1, where weights of long inputs are
    so small that only this shows their pattern.
    """
    n_queries, n_keys = layers[0].n_queries, layers[0].n_keys
    height, width = (max(size // 4, round(size * n / max(n_queries, n_keys))) for n in (n_queries, n_keys))
    gap = GAP if size >= 40 else 3
    n_heads = tuple(trace.n_heads for trace in layers)
    most_rows = max(height, MOST_CELLS // (sum(n_heads) * n_keys))
    whole = np.zeros((len(layers) * (height + gap) - gap, max(n_heads) * (width + gap) - gap), dtype=np.float32)
    between = np.ones(whole.shape, dtype=bool)
    ramp = Ramp(VIRIDIS, 0.0, 1.0, 1.0, UNIFORM_AT, f"1/{n_keys}") if of_its_own else weights_ramp(n_keys)
    largest, rows, edges = [], *_sampled(n_queries, height, most_rows)
    for layer, trace in enumerate(layers):
        largest.append([0.0] * trace.n_heads)
        for head in range(trace.n_heads):
            picture = _reduced(trace, head, look, rows, edges, width)
            most = float(np.nanmax(picture, initial=0.0))
            largest[layer][head] = most
            top, left = layer * (height + gap), head * (width + gap)
            place = slice(top, top + height), slice(left, left + width)
            colours = own_ramp(_uniform(trace, head, look), most) if of_its_own else ramp
            whole[place] = np.where(np.isnan(picture), np.nan, colours.position(picture))
            between[place] = False
    return Mosaic(
        url=palette_url(whole, ramp, MOST_BYTES, between),
        width=width,
        height=height,
        gap=gap,
        n_heads=n_heads,
        largest=tuple(tuple(row) for row in largest),
        ramp=ramp,
        of_its_own=of_its_own,
        n_rows=len(rows),
        n_queries=n_queries,
    )


def own_ramp(uniform: float, largest: float) -> Ramp:
    """Return the ramp of a picture with colours of its own.

    From 0 through the (uniform) weight of looking everywhere alike, at UNIFORM_AT, to the largest number in the
    picture, or to LEAST_RANGE times that weight if nothing is larger, though never beyond 1 on its account.
    """
    high = max(largest, min(LEAST_RANGE * uniform, 1.0), 1e-30)
    ratio = min(uniform / high, 0.999)
    exponent = min(1.0, float(np.log(UNIFORM_AT) / np.log(ratio))) if ratio > 0 else 1.0
    return Ramp(VIRIDIS, 0.0, high, exponent)


def _uniform(trace: AttentionTrace, head: int, look: HeadDisplay) -> float:
    """Return what a key would have on average if the head looked everywhere alike."""
    times = float(value_lengths(trace, head).mean()) if look.times_value and not look.normalised else 1.0
    return times / trace.n_keys


def _sampled(n: int, n_pixels: int, most: int) -> tuple[Tensor, np.ndarray]:
    """Return the rows to compute, evenly spaced in each pixel's share of them, and where each pixel's begin."""
    if n <= n_pixels:  # rows are repeated when they are painted
        return torch.arange(n), np.arange(n_pixels) * n // n_pixels
    edges = np.arange(n_pixels + 1) * n // n_pixels
    if n <= most:
        return torch.arange(n), edges[:-1]
    each = max(1, most // n_pixels)
    rows = [np.unique(np.linspace(low, high, each, endpoint=False).astype(int)) for low, high in pairwise(edges)]
    return torch.from_numpy(np.concatenate(rows)), np.cumsum([0, *map(len, rows)])[:-1]


def _reduced(
    trace: AttentionTrace, head: int, look: HeadDisplay, rows: Tensor, edges: np.ndarray, width: int
) -> np.ndarray:
    """Return a head's picture, (len(edges), width): the largest number behind each pixel, NaN where all is masked."""
    if len(rows) <= len(edges):
        return _numbers(_columns(_cells(trace, head, look, rows)[torch.from_numpy(edges)], width))
    ends = [*edges[1:].tolist(), len(rows)]
    lines, pixel = [], 0
    while pixel < len(ends):
        start, last = int(edges[pixel]), pixel + 1
        while last < len(ends) and ends[last] - start <= ROWS_AT_ONCE:
            last += 1
        cells = _cells(trace, head, look, rows[start : ends[last - 1]])
        lines += [band.amax(0) for band in cells.split(np.diff([start, *ends[pixel:last]]).tolist())]
        pixel = last
    return _numbers(_columns(torch.stack(lines), width))


def _cells(trace: AttentionTrace, head: int, look: HeadDisplay, rows: Tensor) -> Tensor:
    """Return whole rows of what is shown, -1 where a query may not attend."""
    _, weights, _, allowed = whole_rows(trace, head, rows)
    if not look.is_plain:
        weights = shown(trace, head, look, weights, rows).weights
    return weights if allowed is None else weights.masked_fill(~allowed, -1)


def _columns(cells: Tensor, width: int) -> Tensor:
    """Return the cells with as many columns as pixels: the largest of several, or one repeated."""
    n = cells.shape[1]
    if n <= width:
        return cells[:, torch.arange(width) * n // width]
    sizes = np.diff(np.arange(width + 1) * n // width).tolist()
    return torch.stack([band.amax(1) for band in cells.split(sizes, 1)], 1)


def _numbers(cells: Tensor) -> np.ndarray:
    numbers = to_array(cells.float())
    return np.where(numbers < 0, np.nan, numbers)
