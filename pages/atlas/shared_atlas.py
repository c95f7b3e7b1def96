"""Atlases that all visitors share: opened once per matrix, surveyed once, with a cache of packed tiles."""

import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
import torch

from attention_core import AttentionTrace, Axis
from attention_core.atlas import TILE, Atlas, search
from attention_core.atlas.matrix import PackedTile, hidden_cells, pack
from attention_core.concurrency import Lock
from attention_core.inference.long_text import LongText

NAME = "atlas"
MAX_PACKED = 150  # packed tiles kept per atlas, some 100 kB each
PORTION = 0.4  # seconds of a survey at a time; between two portions tiles and other heavy runs have their turn
AT_ONCE = 2**22  # pairs up to which a matrix is surveyed when it is opened: a fraction of a second
PATIENCE = 0.3
"""Seconds after which an answer goes out without the tiles that are not there yet; the browser asks for them again."""

TileIndex = tuple[int, int, int]  # level, row, column; see Atlas.tile


class MatrixSource(NamedTuple):
    """A matrix that can be opened; its key is unique, and the same for all visitors."""

    key: str
    title: str
    n_heads: int
    trace: Callable[[], AttentionTrace]
    text: LongText | None = None  # what was read, if it is a text in pieces
    first_head: int = 0  # to open on, from 0


class SharedAtlas:
    """An atlas with its packed tiles, by a key that Python and the browser know it by.

    Attributes:
        seconds: spent on the survey so far.
        find: returns the positions of a text on the "rows" or the "columns"; exact = whole words only, see search.
    """

    def __init__(self, key: str, atlas: Atlas) -> None:
        self.key, self.atlas, self.seconds = key, atlas, 0.0
        self.find = lru_cache(64)(lambda axis, text, exact: search(axis_of(atlas, axis).labels, text, full_words=exact))
        self._complete_tile = lru_cache(MAX_PACKED)(self._packed)
        self._lock = Lock("atlas", again=True)

    def answer(self, indices: list[TileIndex]) -> tuple[list[dict[str, Any]], list[bytes], list[str]]:
        """Return headers of tiles, their contents, and the keys of those for which the time was too short."""
        headers: list[dict[str, Any]] = []
        contents, later, until = [], [], time.monotonic() + PATIENCE
        for index in indices:
            key = "/".join(map(str, index))
            if (headers and time.monotonic() > until) or not self._is_ready(index, until):
                later.append(key)
                continue
            surveyed = self.atlas.surveyed  # before the tile is made: it may show more, never less
            try:
                packed, n_rows_surveyed = self._tile(index)
            except IndexError:  # no such tile
                continue
            header = packed._asdict()
            contents.append(header.pop("content"))
            header |= {"key": key, "length": len(packed.content), "surveyed": surveyed}
            headers.append(header | {"complete": n_rows_surveyed is None, "n_surveyed": n_rows_surveyed})
        return headers, contents, later

    def blocks(self, level: int, rows: slice, cols: slice) -> np.ndarray:
        """Return blocks of a level by their largest weights, (n_rows, n_cols); NaN = masked, or not surveyed."""
        (top, bottom), (left, right) = ((side.start // TILE, (side.stop - 1) // TILE + 1) for side in (rows, cols))

        def masked_tile(row: int, col: int) -> np.ndarray:
            with self._computing():
                tile = self.atlas.tile(level, row, col)
            hidden = hidden_cells(self.atlas, level, row, col, tile)
            return tile if hidden is None else np.where(hidden, np.nan, tile)

        tiles = np.block([[masked_tile(row, col) for col in range(left, right)] for row in range(top, bottom)])
        return tiles[
            rows.start - top * TILE : rows.stop - top * TILE, cols.start - left * TILE : cols.stop - left * TILE
        ]

    def _is_ready(self, index: TileIndex, until: float) -> bool:
        """Compute what a row of tiles needs, at most until then; other visitors have their turn between two steps."""
        bands = self.atlas.prepare(*index[:2])
        while True:
            with self._computing():
                if next(bands, self) is self:
                    return True
            if time.monotonic() > until:
                return False

    def _tile(self, index: TileIndex) -> tuple[PackedTile, int | None]:
        """Return a tile as it is sent, and how many of its rows are surveyed, None if all are."""
        if index[0] < self.atlas.base_level or self.atlas.is_surveyed:
            return self._complete_tile(index), None
        with self._computing():
            tile = self.atlas.tile(*index)
            return self._packed(index, tile), int((~np.isnan(tile[:, 0])).sum())

    def survey(self, seconds: float | None = None) -> float:
        """Carry the survey on for about so many seconds, a PORTION if None; return the share that is done."""
        began = time.monotonic()
        with self._computing():
            for _ in self.atlas.survey():
                if time.monotonic() - began > (PORTION if seconds is None else seconds):
                    break
        self.seconds += time.monotonic() - began
        return self.atlas.surveyed

    @contextmanager
    def _computing(self) -> Iterator[None]:
        """Hold the lock of this atlas; pages that do not show it need not wait for it."""
        with self._lock, torch.inference_mode():
            yield

    def _packed(self, index: TileIndex, tile: np.ndarray | None = None) -> PackedTile:
        with self._computing():
            tile = self.atlas.tile(*index) if tile is None else tile
            return pack(tile, hidden_cells(self.atlas, *index, tile))


def axis_of(atlas: Atlas, axis: str) -> Axis:
    """Return what the "rows" or the "columns" stand for."""
    story = atlas.trace.story
    return story.query_axis if axis == "rows" else story.key_axis


def shared_atlas(key: str, head: int, trace: Callable[[], AttentionTrace]) -> SharedAtlas:
    """Return a weak proxy of the atlas of one head of a source, see MatrixSource; a small one is surveyed already."""
    return weakref.proxy(_open(key, head, trace))


@st.cache_resource(max_entries=3, show_spinner="Opening the matrix")
def _open(key: str, head: int, _trace: Callable[[], AttentionTrace]) -> SharedAtlas:
    trace = _trace()
    shared = SharedAtlas(f"{key}/{head}", Atlas(trace, head))
    if shared.atlas.n_queries * min(shared.atlas.n_keys, trace.window or shared.atlas.n_keys) <= AT_ONCE:
        shared.survey(60)
    return shared
