"""One streaming pass over a matrix of any size: block sums and maxima, and what each row and column sums up to."""

from __future__ import annotations

import math
import threading

import numpy as np
import torch
from torch import Tensor

from attention_core.atlas.blocks import parts, place, pooled
from attention_core.atlas.cells import BAND, Cells

LOWEST_LOG = -1e4
"""Stands for the logarithm of a weight of 0, whose product with the weight must be 0."""


class Survey:
    """The state of the pass; each step takes one band of rows, whoever asks for it."""

    def __init__(self, cells: Cells, block: int) -> None:
        """Begin a pass that has seen nothing yet.

        Args:
            cells: of the matrix.
            block: cells on the side of a block, a divisor of 256.
        """
        self._cells, self._block = cells, block
        self._n_queries, self._n_keys = cells.trace.n_queries, cells.trace.n_keys
        self._n_bands = math.ceil(self._n_queries / BAND)
        self._next = 0
        self._one_at_a_time = threading.Lock()
        self._blocks: tuple[Tensor, Tensor] | None = None
        self._results: dict[str, Tensor] = {}

    @property
    def share(self) -> float:
        """The share of the work that is done: of the rows, or of the pairs of a causal matrix."""
        done = self._next / self._n_bands
        return done**2 if self._cells.trace.is_causal and self._n_queries <= self._n_keys else done

    @property
    def is_done(self) -> bool:
        """Whether every row has been seen."""
        return self._next == self._n_bands

    @torch.inference_mode()
    def step(self) -> float:
        """Take the next band of rows, if there is one, and return the share that is done."""
        with self._one_at_a_time:
            if not self.is_done:
                self._take(slice(self._next * BAND, min((self._next + 1) * BAND, self._n_queries)))
                self._next += 1
            return self.share

    def result(self, name: str) -> np.ndarray | None:
        """Return one of column_sums, row_sums, row_largest and row_entropy, or None before the pass is complete."""
        return self._results[name].cpu().numpy() if self.is_done else None

    def pooled(self, rows: slice, cols: slice, block: int) -> tuple[Tensor, Tensor, bool]:
        """Return sums and maxima of larger blocks, NaN where a row of them was not seen, and whether that is final."""
        is_final = self.is_done
        shape = math.ceil((rows.stop - rows.start) / block), math.ceil((cols.stop - cols.start) / block)
        if self._blocks is None:
            return *torch.full((2, *shape), math.nan), is_final  # type: ignore[return-value]
        where = place(rows, 0, self._block), place(cols, 0, self._block)
        sums, largest, _ = pooled(self._blocks[0][where], self._blocks[1][where], block // self._block)
        return sums, largest, is_final

    def _take(self, rows: slice) -> None:
        cells, block = self._cells, self._block
        sums, largest = self._kept()
        dtype = cells.dtype(rows)
        across = place(rows, 0, block)
        sums[across], largest[across] = 0, 0
        totals, high, entropy = torch.zeros(3, rows.stop - rows.start, dtype=torch.float64, device=sums.device)
        for _, cols in parts(cells, rows, slice(0, self._n_keys), block):
            logs = cells.log_weights(rows, cols, dtype).clamp_(min=LOWEST_LOG)
            weights = logs.exp()
            where = across, place(cols, 0, block)
            sums[where], largest[where], by_column = pooled(weights, weights, block)
            self._results["column_sums"][cols] += by_column.sum(0)
            totals += weights.sum(1)
            high = torch.maximum(high, weights.amax(1))
            entropy -= logs.mul_(weights).sum(1)
        for name, value in (("row_sums", totals), ("row_largest", high), ("row_entropy", entropy / math.log(2))):
            self._results[name][rows] = value

    def _kept(self) -> tuple[Tensor, Tensor]:
        """Return the grids of block sums and maxima; memory for them is taken when the pass begins."""
        if self._blocks is None:
            shape = math.ceil(self._n_queries / self._block), math.ceil(self._n_keys / self._block)
            device = self._cells.trace.query.device
            rows = ("row_sums", "row_largest", "row_entropy")
            for name, n in (("column_sums", self._n_keys), *((one, self._n_queries) for one in rows)):
                self._results[name] = torch.zeros(n, dtype=torch.float64, device=device)
            self._blocks = torch.full(shape, math.nan, device=device), torch.full(shape, math.nan, device=device)
        return self._blocks
