"""Places of an attention matrix that are worth going to, and where a text stands in it."""

import bisect
import itertools
from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from attention_core.atlas.matrix import TILE, Atlas

BLANKS = {ord(mark): " " for mark in "▁ĠĊ"}
"""Byte-level and SentencePiece tokenizers write a blank or the end of a line as one of these."""


def search(labels: Sequence[str], text: str) -> list[int]:
    """Return the positions at which a text begins, in order; a text may run over several labels.

    Upper and lower case are alike. Blanks do not count, nor do the marks that tokenizers write for them or for the
    going on of a word. Where the labels are the numbers of the positions, only the position of a number is found.

    Args:
        labels: one per position, such as the tokens of a text.
        text: what to find; nothing is found by an empty one.
    """
    wanted = _plain(text)
    if not wanted:
        return []
    if labels and (labels[0], labels[-1]) == ("0", str(len(labels) - 1)):
        return [labels.index(wanted)] if wanted in labels else []
    pieces = [_plain(label) for label in labels]
    starts = list(itertools.accumulate(map(len, pieces), initial=0))
    whole = "".join(pieces)
    found: dict[int, None] = {}  # in order, each once
    at = whole.find(wanted)
    while at >= 0:
        found[bisect.bisect_right(starts, at) - 1] = None
        at = whole.find(wanted, at + 1)
    return list(found)


def _plain(text: str) -> str:
    return "".join(text.removeprefix("##").translate(BLANKS).split()).casefold()


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
    n_rows, n_cols = atlas.n_tiles(level)
    tiles = itertools.product(range(n_rows), range(n_cols))
    blocks = [block for place in tiles for block in _far(atlas, level, place, away, most=1000)]
    best = (0, 0, 0.0)
    looked = set()
    for largest, row, col in sorted(blocks, reverse=True):
        if largest <= 1.001 * best[2]:
            break
        place = row * 2**level // TILE, col * 2**level // TILE
        if place not in looked:
            looked.add(place)
            for weight, row, col in _far(atlas, 0, place, away, most=1):
                best = max(best, (row, col, weight), key=itemgetter(2))
    return best


def _far(atlas: Atlas, level: int, place: tuple[int, int], away: int, most: int) -> list[tuple[float, int, int]]:
    """Return (largest, row, column) of the largest blocks of a tile that have a cell so far away."""
    largest = atlas.tile(level, *place).largest
    rows, cols = (TILE * at + np.arange(n) for at, n in zip(place, largest.shape, strict=True))
    reach = (np.abs(rows[:, None] - cols) + 1) * 2**level - 1
    far = np.where((reach >= away) & ((cols > 0) | (level > 0) | (away == 0)), largest, 0)
    found = zip(*np.unravel_index(np.argsort(-far, axis=None, kind="stable")[:most], far.shape), strict=True)
    return [(float(far[row, col]), int(rows[row]), int(cols[col])) for row, col in found if far[row, col] > 0]
