"""One head's attention matrix as a map with levels, like the zoom levels of a street map.

A cell of level L stands for a block of 2**L x 2**L cells of the matrix, by its largest weight. Level 0 is the matrix
itself. Fine levels are computed where somebody looks; coarse ones come from a grid of maxima that one streaming pass
over the matrix fills, the survey.

A browser gets tiles: the logarithm of each value in equal steps, two bytes a cell, deflated.
Weights of one tile can span thirty powers of ten, of which a fixed-point number would keep none but the largest. Equal
steps of the logarithm keep the same number of digits of each.
"""

import bisect
import itertools
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attention_core.atlas.cells import BAND, Cells
from attention_core.atlas.survey import Survey, block_slice, in_blocks, n_blocks, pooled
from attention_core.attention.trace import AttentionTrace, check_pairs, spans
from attention_core.attention.view.page import pieces
from attention_core.device import to_array

TILE = BAND
"""Cells of a level on one side of a tile."""
MAX_BLOCKS = 4096  # the survey keeps at most this many blocks a side, up to a million positions: 64 MiB
LOWEST_BASE, HIGHEST_BASE = 5, 8
"""The level of the survey's blocks lies between these, 32 to 256 cells a side; finer tiles are computed on demand."""
MAX_TILES = 128  # of one map that are kept: 32 MiB


class Atlas:
    """One head of an attention trace of any size, in memory O(n d); tiles are computed on demand.

    Several threads may look at tiles and carry the survey on at the same time.

    Attributes:
        n_levels: level 0 is the matrix, the last level shows all of it in one tile.
        base_level: the level of the survey's blocks; coarser ones, and this, need the survey.

    Raises:
        IndexError: no such head.
        ValueError: a trace without queries or keys.
    """

    def __init__(self, trace: AttentionTrace, head: int = 0) -> None:
        check_pairs(trace)
        self.trace, self.head = trace, head
        self.n_queries, self.n_keys = trace.n_queries, trace.n_keys
        self._cells = Cells(trace, head)
        longest = max(trace.n_queries, trace.n_keys)
        self.n_levels = 1 + math.ceil(math.log2(max(longest / TILE, 1)))
        self.base_level = min(max(math.ceil(math.log2(longest / MAX_BLOCKS)), LOWEST_BASE), HIGHEST_BASE)
        self._survey = Survey(self._cells, 2**self.base_level)
        self._cached_tile = lru_cache(MAX_TILES)(self._tile)

    def shape(self, level: int) -> tuple[int, int]:
        """Return the number of cells of a level, (rows, columns)."""
        return n_blocks(self.n_queries, 2**level), n_blocks(self.n_keys, 2**level)

    def n_tiles(self, level: int) -> tuple[int, int]:
        """Return the number of tiles of a level, (rows, columns)."""
        return n_blocks(self.n_queries, TILE * 2**level), n_blocks(self.n_keys, TILE * 2**level)

    def region(self, level: int, row: int, col: int) -> tuple[slice, slice]:
        """Return which rows and columns of the matrix a tile shows."""
        side = TILE * 2**level
        rows = slice(row * side, min((row + 1) * side, self.n_queries))
        return rows, slice(col * side, min((col + 1) * side, self.n_keys))

    @torch.inference_mode()
    def tile(self, level: int, row: int, col: int) -> np.ndarray:
        """Return the largest weight of each block of a tile, float32, up to (256, 256); NaN = not surveyed yet.

        At level 0 these are the weights themselves, within 1e-4 of their true values, relatively.

        Raises:
            IndexError: no such level or tile.
        """
        if not 0 <= level < self.n_levels:
            raise IndexError(f"level must be from 0 to {self.n_levels - 1}, got {level}")
        n_rows, n_cols = self.n_tiles(level)
        if not (0 <= row < n_rows and 0 <= col < n_cols):
            raise IndexError(f"level {level} has {n_rows} x {n_cols} tiles, got row {row}, column {col}")
        is_final = level < self.base_level or self.is_surveyed
        return (self._cached_tile if is_final else self._tile)(level, row, col)

    @torch.inference_mode()
    def prepare(self, level: int, row: int) -> Iterator[None]:
        """Compute the normalisers of a row of tiles; yield after every band of 256 rows that lacked them.

        Each takes a whole row of the matrix. They are stored, so that a caller may stop in between. The levels of the
        survey need none.
        """
        if level < self.base_level:
            tile_rows = self.region(level, row, 0)[0]
            for rows in spans(tile_rows.start, tile_rows.stop, BAND):
                if not self._cells.is_computed(rows):
                    self._cells.normaliser(rows)
                    yield

    def survey(self) -> Iterator[float]:
        """Stream over the matrix once, a band of rows at a time, and yield the share that is done, up to 1.

        Whoever stops asking stops the pass; the next call goes on where the last one ended.
        """
        while not self._survey.is_done:
            yield self._survey.step()
        yield 1.0

    @property
    def surveyed(self) -> float:
        """The share of the survey that is done, from 0 to 1."""
        return self._survey.share

    @property
    def is_surveyed(self) -> bool:
        """Whether the survey is complete, so that every tile is there."""
        return self._survey.is_done

    @property
    def has_mask(self) -> bool:
        """Whether any pair may be hidden."""
        return self.trace.is_causal or self.trace.has_mask

    @property
    def matrix_bytes(self) -> int:
        """What all weights of the head would take as float32."""
        return 4 * self.n_queries * self.n_keys

    @property
    def stored_bytes(self) -> int:
        """What the head's queries and keys take, and one float64 number per row, its normaliser."""
        return self.trace.query[self.head].nbytes + self.trace.key_of(self.head).nbytes + 8 * self.n_queries

    @property
    def has_product_weights(self) -> bool:
        """Whether queries, keys and normalisers are all that its weights are computed from."""
        trace = self.trace
        is_plain = trace.score.dot_factor(trace.query.shape[-1]) is not None and trace.has_softmax and not trace.edits
        return is_plain and trace.bias is None and trace.sinks is None

    def _tile(self, level: int, row: int, col: int) -> np.ndarray:
        maxima_of = self._compute_maxima if level < self.base_level else self._survey.pooled
        return to_array(maxima_of(*self.region(level, row, col), 2**level))

    def _compute_maxima(self, rows: slice, cols: slice, block: int) -> Tensor:
        """Return the maxima of blocks, computed in pieces that fit the cache; blocks that are wholly hidden stay 0."""
        cells, size = self._cells, [n_blocks(span.stop - span.start, block) for span in (rows, cols)]
        largest = torch.zeros(size, device=self.trace.query.device)
        for band in spans(rows.start, rows.stop, BAND):
            keys = cells.visible_keys(band)
            first, stop = max(cols.start, keys.start // block * block), min(cols.stop, keys.stop)
            for columns in spans(first, stop, cells.columns):
                weights = cells.log_weights(band, columns, cells.precise if block == 1 else cells.dtype(band)).exp_()
                largest[block_slice(band, rows.start, block), block_slice(columns, cols.start, block)] = pooled(
                    weights, block
                ).float()
        return largest


BLANKS = {ord(mark): " " for mark in "▁ĠĊ↵"}
"""Byte-level and SentencePiece tokenizers write a blank or the end of a line as one of these."""


def search(labels: Sequence[str], text: str, *, full_words: bool = False) -> list[int]:
    """Return the positions of words that begin with a text, in order; it may run over several labels and words.

    Upper and lower case are alike, and so are blanks and the marks that tokenizers write for them. Where the labels are
    the numbers of the positions, only the position of a number is found.

    Args:
        labels: one per position, such as the tokens of a text.
        text: what to find; nothing is found by an empty one.
        full_words: whether it has to end where a word ends, too.
    """
    query_words = text.translate(BLANKS).casefold().split()
    if not query_words:
        return []
    if labels and (labels[0], labels[-1]) == ("0", str(len(labels) - 1)):
        return [labels.index(query_words[0])] if query_words[0] in labels else []
    written = [("" if glued else " ") + piece.translate(BLANKS).casefold() for piece, glued in pieces(labels)]
    starts = list(itertools.accumulate(map(len, written), initial=0))
    no_letter_before = r"(?<!\w)" if query_words[0][0].isalnum() else ""
    no_letter_after = r"(?!\w)" if full_words and query_words[-1][-1].isalnum() else ""
    words = r"\s*".join(map(re.escape, query_words))
    pattern = re.compile(f"{no_letter_before}(?={words}{no_letter_after})")
    positions = (bisect.bisect_right(starts, match.start()) - 1 for match in pattern.finditer("".join(written)))
    return list(dict.fromkeys(positions))


MASKED, ZERO, UNKNOWN, FIRST = 0, 1, 2, 3
"""Codes: hidden by a mask, exactly 0, not surveyed yet, and the smallest value above 0."""
MAX_RELATIVE_ERROR = 4.9e-4  # less than half a unit of the third significant digit of any number
MAX_PAIRS = 2**24  # pairs of a tile up to which its mask is read, to tell hidden cells from weights of 0


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
        finest = 2 * math.log2(1 + MAX_RELATIVE_ERROR)
        n_bytes = 2 if span / (2**16 - 1 - FIRST) <= finest else 3
        step = span / (2 ** (8 * n_bytes) - 1 - FIRST) or finest
        codes[positive] = np.rint((logs - low) / step).astype(np.uint32) + FIRST
    if hidden is not None:
        codes[hidden] = MASKED
    planes = codes.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :n_bytes].T
    return PackedTile(len(values), values.shape[1], low, step, n_bytes, zlib.compress(planes.tobytes(), 1))


def hidden_cells(atlas: Atlas, level: int, row: int, col: int, values: np.ndarray) -> np.ndarray | None:
    """Return which cells of Atlas.tile(level, row, col) are hidden wholly, bool of its shape, or None where none is.

    Of a level with more than MAX_PAIRS pairs in a tile, only what causality and its window hide is known.
    """
    empty = values == 0
    if not atlas.has_mask or not empty.any():
        return None
    block = 2**level
    rows, cols = atlas.region(level, row, col)
    if (rows.stop - rows.start) * (cols.stop - cols.start) <= MAX_PAIRS:
        allowed = atlas.trace.allowed(atlas.head, rows, cols)
        if allowed is None:
            return None
        visible = in_blocks(in_blocks(allowed, block).any(1).T, block).any(1).T  # any of a block, by rows, by columns
        return empty & ~to_array(visible)
    if not atlas.trace.is_causal:
        return None
    first_query, first_key = np.arange(rows.start, rows.stop, block)[:, None], np.arange(cols.start, cols.stop, block)
    hidden = first_key >= np.minimum(first_query + block, rows.stop)
    if atlas.trace.window is not None:
        hidden |= first_key + block <= first_query + 1 - atlas.trace.window
    return empty & hidden
