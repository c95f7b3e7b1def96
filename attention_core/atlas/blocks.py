"""Blocks of cells: how a matrix is cut into them, and their sums and maxima."""

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from attention_core.atlas.cells import BAND, Cells
from attention_core.attention.pairs import spans


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
    return slice((part.start - origin) // block, math.ceil((part.stop - origin) / block))


def extent(part: slice, block: int) -> np.ndarray:
    """Return how many cells each block of a part has on its side: as many as the block, at the edge perhaps less."""
    starts = np.arange(part.start, part.stop, block)
    return np.minimum(block, part.stop - starts).astype(np.float32)


def in_blocks(cells: Tensor, block: int) -> Tensor:
    """Return (n_blocks, block, n_cols) of cells (n_rows, n_cols): their rows in blocks, the last with zeros below."""
    below = -len(cells) % block
    whole = torch.nn.functional.pad(cells, (0, 0, 0, below)) if below else cells
    return whole.reshape(-1, block, cells.shape[1])


def pooled(sums: Tensor, largest: Tensor, block: int) -> tuple[Tensor, Tensor]:
    """Return sums and maxima of blocks, NaN where any cell of a block is.

    Args:
        sums: (n_rows, n_cols), to be added up.
        largest: (n_rows, n_cols), not negative, of which the maximum is taken; may be the same tensor.
        block: cells on its side.
    """
    total = in_blocks(in_blocks(sums, block).sum(1).T, block).sum(1)
    return total.T, in_blocks(in_blocks(largest, block).amax(1).T, block).amax(1).T
