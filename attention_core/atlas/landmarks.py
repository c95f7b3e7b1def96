"""Places of an attention matrix that are worth going to."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attention_core.atlas.matrix import TILE, Atlas


class Landmark(NamedTuple):
    """A place, and in words what is to be seen there.

    Without a row (the query) a whole column (the key) is meant, and the other way round.
    """

    name: str
    row: int | None
    column: int | None
    words: str


def landmarks(atlas: Atlas) -> list[Landmark]:
    """Return the places of a surveyed matrix: the strongest far cell, the key that is looked at most, odd rows.

    Raises:
        ValueError: the survey is not complete.
    """
    received, entropy = atlas.column_sums, atlas.row_entropy
    if received is None or entropy is None:
        raise ValueError("landmarks need a complete survey")
    away = max(min(atlas.n_queries, atlas.n_keys) // 8, 1)
    row, column, weight = strongest(atlas, away)
    key, query = int(received.argmax()), int(entropy.argmax())
    far = f"weight {weight:.3g}, at least {away:,} positions from the diagonal, the first key aside"
    most = f"{received[key]:,.1f} in all; the average is {received.mean():.3g}"
    around = f"{entropy[query]:.2f} bits, as if alike on {2 ** entropy[query]:,.0f} keys"
    return [
        *([Landmark("Largest far away", row, column, far)] if weight > 0 else []),
        Landmark("Key looked at most", None, key, most),
        Landmark("Query that looks around most", query, None, around),
    ]


def strongest(atlas: Atlas, away: int = 0) -> tuple[int, int, float]:
    """Return (row, column, weight) of the largest weight at least so many positions away from the diagonal.

    Far from the diagonal the first key is left out: many heads look there for want of anything better. Blocks are
    looked into in the order of their maxima, until no block that is left can hold more than a thousandth more. Weight 0
    and the first cell are returned where no cell is so far away. A matrix whose coarsest level needs it is surveyed.
    """
    level = min(atlas.base_level, atlas.n_levels - 1)
    block = 2**level
    blocks = sorted(_blocks(atlas, level, away), reverse=True)
    best = (0, 0, 0.0)
    looked: set[tuple[int, int]] = set()
    for largest, row, col in blocks:
        if largest <= 1.001 * best[2]:
            break
        place = row * block // TILE, col * block // TILE
        if place not in looked:
            looked.add(place)
            best = max(best, _strongest_of_tile(atlas, *place, away), key=lambda cell: cell[2])
    return best


def _blocks(atlas: Atlas, level: int, away: int) -> Iterator[tuple[float, int, int]]:
    """Yield (largest, row, column) of the blocks with a cell so far away; of each tile the thousand largest."""
    block = 2**level
    n_rows, n_cols = atlas.n_tiles(level)
    for tile_row, tile_col in itertools.product(range(n_rows), range(n_cols)):
        largest = atlas.tile(level, tile_row, tile_col).largest
        rows, cols = _positions(tile_row, tile_col, largest)
        reach = np.abs(rows - cols) * block + block - 1
        far = np.where(reach >= away, largest, 0).ravel()
        for place in np.argsort(far)[-1000:]:
            if far[place] > 0:
                row, col = divmod(int(place), largest.shape[1])
                yield float(far[place]), int(rows[row, 0]), int(cols[col])


def _positions(tile_row: int, tile_col: int, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows (n, 1) and columns (m,) of a level the cells of a tile are."""
    return tile_row * TILE + np.arange(cells.shape[0])[:, None], tile_col * TILE + np.arange(cells.shape[1])


def _strongest_of_tile(atlas: Atlas, tile_row: int, tile_col: int, away: int) -> tuple[int, int, float]:
    weights = atlas.tile(0, tile_row, tile_col).mean
    rows, cols = _positions(tile_row, tile_col, weights)
    far = np.where((np.abs(rows - cols) >= away) & ((cols > 0) | (away == 0)), weights, 0)
    row, col = divmod(int(far.argmax()), far.shape[1])
    return int(rows[row, 0]), int(cols[col]), float(far[row, col])
