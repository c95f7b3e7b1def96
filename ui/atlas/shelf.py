"""Atlases that all visitors share: opened once per matrix, their packed tiles kept for a while, surveyed together."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import streamlit as st

from attention_core.atlas import Atlas, Tile
from attention_core.atlas.glimpse import glimpse
from attention_core.atlas.landmarks import Landmark, landmarks
from attention_core.atlas.packed import Packed, hidden_cells, pack
from attention_core.attention.trace import AttentionTrace
from ui.models import COMPUTE, spare_imports

MOST_PACKED = 150
"""Packed tiles kept per atlas, some 100 kB each."""
PORTION = 0.25
"""Seconds of a survey at a time; between two portions other visitors and this one's clicks have their turn."""
AT_ONCE = 2**22
"""Pairs up to which a matrix is surveyed when it is opened: a fraction of a second."""


@dataclass(eq=False)
class Shelf:
    """An atlas with what was made of it.

    Attributes:
        key: tells it from others, in Python and in the browser.
        atlas: of one head.
        seconds: spent on the survey so far.
    """

    key: str
    atlas: Atlas
    seconds: float = 0.0
    _packed: OrderedDict[tuple[str, int, int, int], Packed] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _landmarks: list[Landmark] | None = None
    _glimpse: Tile | None = None

    def prepare(self, level: int, row: int, until: float) -> bool:
        """Compute what a row of tiles needs, until the clock says so; return whether everything is there.

        Other visitors have their turn between two steps.

        Args:
            level: see Atlas.tile.
            row: see Atlas.tile.
            until: of time.monotonic().
        """
        bands = self.atlas.prepare(level, row)
        while True:
            with COMPUTE:
                if next(bands, self) is self:
                    return True
            if time.monotonic() > until:
                return False

    def packed(self, kind: str, level: int, row: int, col: int) -> tuple[Packed, int | None]:
        """Return a tile of "mean" or "largest" as it is sent, and how many of its rows are surveyed, None if all are.

        What the survey has not seen of the overview is told by a glimpse of it.

        Raises:
            IndexError: no such tile.
        """
        place = kind, level, row, col
        with self._lock:
            if place in self._packed:
                self._packed.move_to_end(place)
                return self._packed[place], None
        with COMPUTE:
            is_whole = level < self.atlas.base_level or self.atlas.is_surveyed
            tile = self.atlas.tile(level, row, col)
            n_seen = None if is_whole else int((~np.isnan(tile.mean[:, 0])).sum())
            if not is_whole and level == self.atlas.n_levels - 1:
                tile = self._with_glimpse(tile)
            hidden = hidden_cells(self.atlas, level, row, col, tile.largest)
        made = pack(tile.mean if kind == "mean" else tile.largest, hidden)
        if is_whole:
            with self._lock:
                self._packed[place] = made
                if len(self._packed) > MOST_PACKED:
                    self._packed.popitem(last=False)
        return made, n_seen

    def _with_glimpse(self, tile: Tile) -> Tile:
        if self._glimpse is None:
            self._glimpse = glimpse(self.atlas)
        mean, largest = (np.where(np.isnan(one), seen, one) for one, seen in zip(tile, self._glimpse, strict=True))
        return Tile(mean, largest)

    def survey(self, seconds: float | None = None) -> float:
        """Carry the survey on for about so long, a PORTION if None; return the share that is done."""
        seconds = PORTION if seconds is None else seconds
        began = time.monotonic()
        with COMPUTE:
            for _ in self.atlas.survey():
                if time.monotonic() - began > seconds:
                    break
        self.seconds += time.monotonic() - began
        return self.atlas.surveyed

    def landmarks(self) -> list[Landmark]:
        """Return the places worth going to; the survey is complete."""
        if self._landmarks is None:
            with COMPUTE:
                self._landmarks = landmarks(self.atlas)
        return self._landmarks


@st.cache_resource(max_entries=3, show_spinner="Opening the matrix")
def shelf_of(key: str, head: int, _trace: Callable[[], AttentionTrace]) -> Shelf:
    """Return the atlas of one head; a small one is surveyed already.

    Args:
        key: of the trace, for everybody the same.
        head: from 0.
        _trace: makes the trace where nobody has opened it lately.
    """
    _spare_imports_once()
    shelf = Shelf(f"{key}/{head}", Atlas(_trace(), head))
    if shelf.atlas.n_queries * shelf.atlas.n_keys <= AT_ONCE:
        shelf.survey(60)
    return shelf


@st.cache_resource(show_spinner=False)
def _spare_imports_once() -> None:
    spare_imports()
