"""One streaming pass over a matrix of any size: block sums and maxima, and what each row and column sums up to."""

from __future__ import annotations

import math
import threading
import time
from collections import deque

import numpy as np
import torch
from torch import Tensor

from attention_core.atlas.blocks import parts, place, pooled
from attention_core.atlas.cells import BAND, Cells
from attention_core.device import to_array

LOWEST_LOG = -1e4
"""Stands for the logarithm of a weight of 0, whose product with the weight must be 0."""
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
        self._one_at_a_time = threading.Lock()
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
        """Whether every row has been seen."""
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
        sums, largest, _ = pooled(sums, largest, block // self._block)
        return sums, largest, is_final

    def _begun(self, rows: slice) -> _Band:
        if not self._blocks:
            self._take_memory()
        self._cells.normaliser(rows)
        waiting = deque(cols for _, cols in parts(self._cells, rows, slice(0, self._n_keys), self._block))
        return _Band(rows, waiting, self._cells, self._block)

    def _take(self, band: _Band) -> None:
        cols = band.waiting.popleft()
        logs = self._cells.log_weights(band.rows, cols, band.dtype).clamp_(min=LOWEST_LOG)
        weights = logs.exp()
        across = place(cols, 0, self._block)
        band.sums[:, across], band.largest[:, across], by_column = pooled(weights, weights, self._block)
        self._results["column_sums"][cols] += by_column.sum(0)
        band.row_sums += weights.sum(1)
        torch.maximum(band.row_largest, weights.amax(1).to(band.row_largest), out=band.row_largest)
        band.row_entropy -= logs.mul_(weights).sum(1)

    def _finish(self, band: _Band) -> None:
        sums, largest = self._blocks
        where = place(band.rows, 0, self._block)
        sums[where], largest[where] = band.sums, band.largest
        self._results["row_sums"][band.rows] = band.row_sums
        self._results["row_largest"][band.rows] = band.row_largest
        self._results["row_entropy"][band.rows] = (band.row_entropy / math.log(2)).clamp_(min=0)

    def _take_memory(self) -> None:
        shape = math.ceil(self._n_queries / self._block), math.ceil(self._n_keys / self._block)
        device, wide = self._cells.trace.query.device, self._cells.precise
        self._results = {"column_sums": torch.zeros(self._n_keys, dtype=wide, device=device)}
        for name in ("row_sums", "row_largest", "row_entropy"):
            self._results[name] = torch.zeros(self._n_queries, dtype=wide, device=device)
        self._blocks = [torch.full(shape, math.nan, device=device) for _ in range(2)]


class _Band:
    """A band of rows that the pass is in, with what its cells have been added up to so far."""

    def __init__(self, rows: slice, waiting: deque[slice], cells: Cells, block: int) -> None:
        """Begin a band whose parts all wait; what no part covers is hidden by a mask and stays 0."""
        self.rows, self.waiting, self._n_parts = rows, waiting, len(waiting)
        self.dtype = cells.dtype(rows)
        device = cells.trace.query.device
        n_rows, n_blocks = rows.stop - rows.start, math.ceil(cells.trace.n_keys / block)
        self.sums, self.largest = torch.zeros(2, math.ceil(n_rows / block), n_blocks, device=device)
        self.row_sums, self.row_largest, self.row_entropy = torch.zeros(3, n_rows, dtype=cells.precise, device=device)

    @property
    def share(self) -> float:
        """The share of the band's parts that are done."""
        return 1 - len(self.waiting) / max(self._n_parts, 1)
