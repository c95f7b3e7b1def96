"""Blocks of cells: how a matrix is cut into them, and their sums and maxima."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from attention_core.atlas.cells import BAND, Cells
from attention_core.attention.attend import spans


def parts(cells: Cells, rows: slice, cols: slice, block: int) -> Iterator[tuple[slice, slice]]:
    """Yield (rows, cols) of pieces that fit the cache, cut between blocks, without those that a mask hides wholly.

    A block has a divisor of 256 cells on its side; rows begin at a multiple of 256, cols of the block.
    """
    for band in spans(rows.start, rows.stop, BAND):
        seen = cells.seen(band)
        left, stop = max(cols.start, seen.start // block * block), min(cols.stop, seen.stop)
        for piece in spans(left, stop, cells.columns):
            yield band, piece


def place(part: slice, origin: int, block: int) -> slice:
    """Return which blocks a part covers, counted from the origin."""
    return slice((part.start - origin) // block, math.ceil((part.stop - origin) / block))


def extent(part: slice, block: int) -> np.ndarray:
    """Return how many cells each block of a part has on its side: as many as the block, at the edge perhaps less."""
    starts = np.arange(part.start, part.stop, block)
    return np.minimum(block, part.stop - starts).astype(np.float32)


def pooled(sums: Tensor, largest: Tensor, block: int) -> tuple[Tensor, Tensor, Tensor]:
    """Pool cells in blocks.

    Args:
        sums: (n_rows, n_cols), to be added up.
        largest: (n_rows, n_cols), not negative, of which the maximum is taken; may be the same tensor.
        block: cells on its side.

    Returns:
        sums and maxima of the blocks, NaN where any cell of a block is, and (n_blocks, n_cols), the sums of the
        blocks' columns.
    """
    by_column = _whole(sums, block, 1).view(-1, block, sums.shape[1]).sum(1)
    high = _whole(largest, block, 1).view(-1, block, largest.shape[1]).amax(1)
    n_rows = len(high)
    total = _whole(by_column, 1, block).view(n_rows, -1, block).sum(2)
    return total, _whole(high, 1, block).view(n_rows, -1, block).amax(2), by_column


def _whole(cells: Tensor, row_block: int, col_block: int) -> Tensor:
    """Return the cells with zeros below and to the right, so that they make whole blocks."""
    below, right = -cells.shape[0] % row_block, -cells.shape[1] % col_block
    return torch.nn.functional.pad(cells, (0, right, 0, below)) if below or right else cells.contiguous()
