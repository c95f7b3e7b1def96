"""One streaming pass over a matrix of any size: the largest weight of each block."""

import math
import time
from collections.abc import Iterator

import torch
from torch import Tensor

from attention_core.atlas.cells import BAND, Cells
from attention_core.attention.trace import spans
from attention_core.concurrency import Lock

PORTION = 0.1  # seconds after which a step ends as soon as it can


class Survey:
    """The state of the pass over the bands of rows; any thread may take its next step."""

    def __init__(self, cells: Cells, block: int) -> None:
        """Begin a pass; the side of a block, in cells, divides 256."""
        self._cells, self._block = cells, block
        self._n_queries, self._n_keys = cells.trace.n_queries, cells.trace.n_keys
        self._n_bands = n_blocks(self._n_queries, BAND)
        self._n_done, self._share_of_band = 0, 0.0
        self._lock = Lock("survey")
        self._largest: Tensor | None = None
        self._steps = self._pass()

    @property
    def share(self) -> float:
        """The share of the work that is done: of the rows, or of the pairs of a causal matrix."""
        done = (self._n_done + self._share_of_band) / self._n_bands
        trace = self._cells.trace
        grows = trace.is_causal and trace.window is None and self._n_queries <= self._n_keys
        return min(done**2 if grows else done, 1.0)

    @property
    def is_done(self) -> bool:
        return self._n_done == self._n_bands

    @torch.inference_mode()
    def step(self) -> float:
        """Go on for about a tenth of a second and return the share that is done."""
        with self._lock:
            deadline = time.monotonic() + PORTION
            for _ in self._steps:
                if time.monotonic() >= deadline:
                    return self.share
            self._steps = self._pass()  # all is done, or a fault has ended the pass, which begins the band anew
            return self.share

    def pooled(self, rows: slice, cols: slice, block: int) -> Tensor:
        """Return the maxima of larger blocks, NaN where a row of them was not seen."""
        if self._largest is None:
            return torch.full([n_blocks(span.stop - span.start, block) for span in (rows, cols)], math.nan)
        n_seen = self._n_done * BAND
        maxima = pooled(
            self._largest[block_slice(rows, 0, self._block), block_slice(cols, 0, self._block)], block // self._block
        )
        if n_seen < rows.stop:
            maxima[max(n_seen - rows.start, 0) // block :] = math.nan
        return maxima

    def _pass(self) -> Iterator[None]:
        """Go over the bands that are left, and yield after every part of one."""
        buffer = self._cells.buffer(BAND, self._cells.columns)
        if self._largest is None:
            shape = n_blocks(self._n_queries, self._block), n_blocks(self._n_keys, self._block)
            self._largest = torch.empty(shape, device=buffer.device)  # it takes memory only as it is filled
        for rows in spans(self._n_done * BAND, self._n_queries, BAND):
            yield from self._band(rows, buffer, self._largest[block_slice(rows, 0, self._block)])
            self._share_of_band, self._n_done = 0.0, self._n_done + 1  # in this order: it is read meanwhile

    def _band(self, rows: slice, buffer: Tensor, grid: Tensor) -> Iterator[None]:
        """Fill in the blocks of a band; those outside its visible keys get 0."""
        keys, block = self._cells.visible_keys(rows), self._block
        pieces = list(spans(keys.start // block * block, keys.stop, self._cells.columns))
        total, maxima = torch.zeros(rows.stop - rows.start, dtype=self._cells.precise, device=buffer.device), []
        for cols in pieces:
            powers = self._cells.log2_weights(rows, cols, buffer).exp2_()
            total += powers.sum(0)
            maxima.append(in_blocks(powers, block).amax(1))
            self._share_of_band = len(maxima) / len(pieces)
            yield
        largest = torch.zeros_like(grid)
        if maxima:  # the sums of rows are known only now
            weights = torch.cat(maxima) * self._cells.factors(rows, total).to(maxima[0].dtype)
            largest[:, block_slice(slice(pieces[0].start, keys.stop), 0, block)] = in_blocks(weights.T, block).amax(1)
        grid[:] = largest


def n_blocks(n_cells: int, block: int) -> int:
    return math.ceil(n_cells / block)


def block_slice(span: slice, origin: int, block: int) -> slice:
    return slice((span.start - origin) // block, n_blocks(span.stop - origin, block))


def in_blocks(cells: Tensor, block: int) -> Tensor:
    """Return (n_blocks, block, n_cols) of cells (n_rows, n_cols): their rows in blocks, the last with zeros below."""
    below = -len(cells) % block
    padded = torch.nn.functional.pad(cells, (0, 0, 0, below)) if below else cells
    return padded.reshape(-1, block, cells.shape[1])


def pooled(cells: Tensor, block: int) -> Tensor:
    """Return the maxima of blocks of cells (n_rows, n_cols), none below 0; NaN where any cell of a block is."""
    return in_blocks(in_blocks(cells, block).amax(1).T, block).amax(1).T
