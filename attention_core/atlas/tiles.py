"""Tiles as a browser gets them: the logarithm of each value in equal steps, two bytes a cell, deflated.

Weights of one tile can span thirty powers of ten, of which a fixed-point number would keep none but the largest. Equal
steps of the logarithm keep the same number of digits of each.
"""

import math
import zlib
from typing import NamedTuple

import numpy as np

from attention_core.atlas.matrix import Atlas
from attention_core.atlas.survey import in_blocks
from attention_core.device import to_array

MASKED, ZERO, UNKNOWN, FIRST = 0, 1, 2, 3
"""Codes: hidden by a mask, exactly 0, not surveyed yet, and the smallest value above 0."""
ERROR = 4.9e-4  # largest relative error: less than half a unit of the third significant digit of any number
MOST_PAIRS = 2**24  # pairs of a tile up to which its mask is read, to tell hidden cells from weights of 0


class PackedTile(NamedTuple):
    """One tile, ready to be sent."""

    height: int
    width: int
    low: float  # log2 of the smallest value above 0, the code FIRST
    step: float  # in log2, from one code to the next
    n_bytes: int  # of a code, 2 or, where the values span more than some ninety powers of two, 3
    content: bytes  # deflated; first the lowest bytes of all codes in reading order, then the next ones


def pack(values: np.ndarray, hidden: np.ndarray | None = None) -> PackedTile:
    """Return a tile's values as codes: none is negative, NaN = not surveyed; True in hidden = hidden by a mask."""
    codes = np.full(values.shape, ZERO, np.uint32)
    codes[np.isnan(values)] = UNKNOWN
    positive = values > 0
    low = step = 0.0
    n_bytes = 2
    if positive.any():
        logs = np.log2(values[positive].astype(np.float64))
        low, span = float(logs.min()), float(np.ptp(logs))
        finest = 2 * math.log2(1 + ERROR)
        n_bytes = 2 if span / (2**16 - 1 - FIRST) <= finest else 3
        step = span / (2 ** (8 * n_bytes) - 1 - FIRST) or finest
        codes[positive] = np.rint((logs - low) / step).astype(np.uint32) + FIRST
    if hidden is not None:
        codes[hidden] = MASKED
    planes = codes.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :n_bytes].T
    return PackedTile(len(values), values.shape[1], low, step, n_bytes, zlib.compress(planes.tobytes(), 1))


def hidden_cells(atlas: Atlas, level: int, row: int, col: int, values: np.ndarray) -> np.ndarray | None:
    """Return which cells of a tile are hidden wholly, bool of the tile's shape, or None where none is.

    Of a level with more than MOST_PAIRS pairs in a tile, only what causality and its window hide is known.

    Where the tile's values are above 0, nothing is hidden. See Atlas.tile for the level, row and column.
    """
    empty = values == 0
    if not atlas.has_mask or not empty.any():
        return None
    block = 2**level
    rows, cols = atlas.part(level, row, col)
    if (rows.stop - rows.start) * (cols.stop - cols.start) <= MOST_PAIRS:
        allowed = atlas.trace.allowed(atlas.head, rows, cols)
        seen = None if allowed is None else in_blocks(in_blocks(allowed, block).any(1).T, block).any(1).T
        return None if seen is None else empty & ~to_array(seen)
    if not atlas.trace.is_causal:
        return None
    first_query, first_key = np.arange(rows.start, rows.stop, block)[:, None], np.arange(cols.start, cols.stop, block)
    hidden = first_key >= np.minimum(first_query + block, rows.stop)
    if atlas.trace.window is not None:
        hidden |= first_key + block <= first_query + 1 - atlas.trace.window
    return empty & hidden
