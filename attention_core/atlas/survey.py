"""One streaming pass over a matrix of any size: block sums and maxima, and what each row and column sums up to."""

from __future__ import annotations

import math
import time
from collections import deque

import numpy as np
import torch
from torch import Tensor

from attention_core.atlas.blocks import in_blocks, place, pooled
from attention_core.atlas.cells import BAND, STRIP, Cells
from attention_core.attention.pairs import spans
from attention_core.device import to_array
from attention_core.locks import Lock

PORTION = 0.1
"""Seconds after which a step ends as soon as it can."""


class Survey:
    """The state of the pass, which takes one band of rows after the other, whoever asks for a step."""

    def __init__(self, cells: Cells, block: int) -> None:
        """Begin a pass that has seen nothing yet; a block has a divisor of 256 cells on its side."""
        self._cells, self._block = cells, block
        self._n_queries, self._n_keys = cells.trace.n_queries, cells.trace.n_keys
        self._n_bands = math.ceil(self._n_queries / BAND)
        self._n_done = 0
        self._band: _Band | None = None
        self._one_at_a_time = Lock("survey")
        self._width = cells.columns * BAND // STRIP
        self._rooms: list[Tensor] = []  # memory for the powers of a strip's cells, over and over
        self._held: list[tuple[slice, Tensor, Tensor, Tensor]] = []  # of the strip: keys, powers, sums, maxima
        self._blocks: list[Tensor] = []
        self._results: dict[str, Tensor] = {}

    @property
    def share(self) -> float:
        """The share of the work that is done: of the rows, or of the pairs of a causal matrix."""
        band = self._band
        done = (self._n_done + (0 if band is None else band.share)) / self._n_bands
        return min(done**2 if self._cells.trace.is_causal and self._n_queries <= self._n_keys else done, 1.0)

    @property
    def is_done(self) -> bool:
        return self._n_done == self._n_bands

    @torch.inference_mode()
    def step(self) -> float:
        """Go on for about a tenth of a second and return the share that is done."""
        with self._one_at_a_time:
            end = time.monotonic() + PORTION
            while not self.is_done:
                if self._band is None:
                    start = self._n_done * BAND
                    self._band = self._begun(slice(start, min(start + BAND, self._n_queries)))
                elif self._band.waiting:
                    self._take(self._band)
                else:
                    self._finish(self._band)
                    self._band, self._n_done = None, self._n_done + 1
                    if self.is_done:
                        self._rooms.clear()
                if time.monotonic() >= end:
                    break
            return self.share

    def result(self, name: str) -> np.ndarray | None:
        """Return one of column_sums, row_sums, row_largest and row_entropy, or None before the pass is complete."""
        return to_array(self._results[name]) if self.is_done else None

    def pooled(self, rows: slice, cols: slice, block: int) -> tuple[Tensor, Tensor, bool]:
        """Return sums and maxima of larger blocks, NaN where a row of them was not seen, and whether that is final."""
        is_final = self.is_done
        if not self._blocks:
            shape = math.ceil((rows.stop - rows.start) / block), math.ceil((cols.stop - cols.start) / block)
            nothing = torch.full(shape, math.nan)
            return nothing, nothing, is_final
        where = place(rows, 0, self._block), place(cols, 0, self._block)
        sums, largest = (grid[where] for grid in self._blocks)
        return *pooled(sums, largest, block // self._block), is_final

    def _begun(self, rows: slice) -> _Band:
        if not self._blocks:
            self._take_memory()
        return _Band(rows, self._cells, self._block)

    def _take(self, band: _Band) -> None:
        strip, cols = band.waiting.popleft()
        logs = self._cells.bits(strip, cols, self._room)
        if not self._held:
            self._products = logs.new_zeros(self._width, logs.shape[1])
            if self._rooms and self._rooms[0].dtype != logs.dtype:
                self._rooms.clear()
        if len(self._held) == len(self._rooms):
            self._rooms.append(logs.new_empty(self._width * STRIP))
        powers = torch.exp2(logs, out=self._rooms[len(self._held)][: logs.numel()].view(logs.shape))
        blocks = in_blocks(powers, self._block)
        self._held.append((cols, powers, blocks.sum(1), blocks.amax(1)))
        self._products[: len(logs)].addcmul_(logs, powers)
        if not band.waiting or band.waiting[0][0] != strip:
            self._normalise(band, strip)

    def _normalise(self, band: _Band, strip: slice) -> None:
        """Make weights of the powers of all cells of a strip: only now is known what they add up to."""
        results = self._results
        pieces, powers, sums, largest = zip(*self._held, strict=True)
        sums, largest = torch.cat(sums), torch.cat(largest)
        total = sums.sum(0).to(self._cells.precise)
        factors = self._cells.factors(strip, total)
        narrow = factors.to(sums.dtype)
        seen = slice(pieces[0].start, pieces[-1].stop)
        results["column_sums"][seen] += torch.cat([torch.mv(some, narrow) for some in powers])
        self._held.clear()
        band.add(strip, seen, sums.mul_(narrow), largest.mul_(narrow))
        results["row_sums"][strip] = total * factors
        results["row_largest"][strip] = largest.amax(0).to(total.dtype)
        bits = self._products.sum(0) + total * factors.log2()
        results["row_entropy"][strip] = (-factors * bits).clamp_(min=0)

    def _finish(self, band: _Band) -> None:
        sums, largest = self._blocks
        where = place(band.rows, 0, self._block)
        sums[where], largest[where] = band.sums, band.largest

    def _take_memory(self) -> None:
        shape = math.ceil(self._n_queries / self._block), math.ceil(self._n_keys / self._block)
        self._room = self._cells.room(STRIP, self._width)
        device, wide = self._cells.trace.query.device, self._cells.precise
        self._results = {"column_sums": torch.zeros(self._n_keys, dtype=wide, device=device)}
        for name in ("row_sums", "row_largest", "row_entropy"):
            self._results[name] = torch.zeros(self._n_queries, dtype=wide, device=device)
        self._blocks = [torch.full(shape, math.nan, device=device) for _ in range(2)]


class _Band:
    """A band of rows that the pass is in, with what its cells have been added up to so far."""

    def __init__(self, rows: slice, cells: Cells, block: int) -> None:
        """Begin a band whose parts all wait; what no part covers is hidden by a mask and stays 0."""
        self.rows, seen = rows, cells.seen(rows)
        pieces = list(spans(seen.start // block * block, seen.stop, cells.columns * BAND // STRIP))
        self.waiting = deque((strip, cols) for strip in spans(rows.start, rows.stop, STRIP) for cols in pieces)
        self._n_parts = len(self.waiting)
        self._block = block
        shape = math.ceil((rows.stop - rows.start) / block), math.ceil(cells.trace.n_keys / block)
        self.sums, self.largest = torch.zeros(2, *shape, device=cells.trace.query.device)

    def add(self, strip: slice, cols: slice, sums: Tensor, largest: Tensor) -> None:
        """Add what the rows of a strip have in blocks of keys, (n_blocks, n_rows); a block may have rows of several."""
        where = place(strip, self.rows.start, self._block), place(cols, 0, self._block)
        self.sums[where] += in_blocks(sums.T, self._block).sum(1)
        self.largest[where] = self.largest[where].maximum(in_blocks(largest.T, self._block).amax(1))

    @property
    def share(self) -> float:
        return 1 - len(self.waiting) / max(self._n_parts, 1)
