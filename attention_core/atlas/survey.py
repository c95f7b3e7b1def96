"""One streaming pass over a matrix of any size: the largest weight of each block."""

import math
import time
from collections.abc import Iterator

import torch
from torch import Tensor

from attention_core.atlas.cells import BAND, Cells
from attention_core.attention.trace import spans
from attention_core.shared import Lock

PORTION = 0.1
"""Seconds after which a step ends as soon as it can."""


class Survey:
    """The state of the pass, which takes one band of rows after the other, whoever asks for a step."""

    def __init__(self, cells: Cells, block: int) -> None:
        """Begin a pass that has seen nothing yet; a block has a divisor of 256 cells on its side."""
        self._cells, self._block = cells, block
        self._n_queries, self._n_keys = cells.trace.n_queries, cells.trace.n_keys
        self._n_bands = n_blocks(self._n_queries, BAND)
        self._n_done, self._share_of_band = 0, 0.0
        self._one_at_a_time = Lock("survey")
        self._largest: Tensor | None = None
        self._parts = self._pass()

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
        with self._one_at_a_time:
            end = time.monotonic() + PORTION
            for _ in self._parts:
                if time.monotonic() >= end:
                    return self.share
            self._parts = self._pass()  # all is done, or a fault has ended the pass, which begins the band anew
            return self.share

    def pooled(self, rows: slice, cols: slice, block: int) -> Tensor:
        """Return the maxima of larger blocks, NaN where a row of them was not seen."""
        if self._largest is None:
            return torch.full([n_blocks(part.stop - part.start, block) for part in (rows, cols)], math.nan)
        return pooled(self._largest[place(rows, 0, self._block), place(cols, 0, self._block)], block // self._block)

    def _pass(self) -> Iterator[None]:
        """Go over the bands that are left, and yield after every part of one."""
        room = self._cells.room(BAND, self._cells.columns)
        if self._largest is None:
            shape = n_blocks(self._n_queries, self._block), n_blocks(self._n_keys, self._block)
            self._largest = torch.full(shape, math.nan, device=room.device)
        for rows in spans(self._n_done * BAND, self._n_queries, BAND):
            yield from self._band(rows, room, self._largest[place(rows, 0, self._block)])
            self._share_of_band, self._n_done = 0.0, self._n_done + 1  # in this order: it is read meanwhile

    def _band(self, rows: slice, room: Tensor, grid: Tensor) -> Iterator[None]:
        """Look at the cells of a band; what is not seen is hidden by a mask and gets 0."""
        seen, block = self._cells.seen(rows), self._block
        pieces = list(spans(seen.start // block * block, seen.stop, self._cells.columns))
        total, most = torch.zeros(rows.stop - rows.start, dtype=self._cells.precise, device=room.device), []
        for cols in pieces:
            powers = self._cells.log2_weights(rows, cols, room).exp2_()
            total += powers.sum(0)
            most.append(in_blocks(powers, block).amax(1))
            self._share_of_band = len(most) / len(pieces)
            yield
        largest = torch.zeros_like(grid)
        if most:  # only now is known what a row adds up to
            weights = torch.cat(most) * self._cells.factors(rows, total).to(most[0].dtype)
            largest[:, place(slice(pieces[0].start, seen.stop), 0, block)] = in_blocks(weights.T, block).amax(1)
        grid[:] = largest


def n_blocks(n_cells: int, block: int) -> int:
    return math.ceil(n_cells / block)


def place(part: slice, origin: int, block: int) -> slice:
    return slice((part.start - origin) // block, n_blocks(part.stop - origin, block))


def in_blocks(cells: Tensor, block: int) -> Tensor:
    """Return (n_blocks, block, n_cols) of cells (n_rows, n_cols): their rows in blocks, the last with zeros below."""
    below = -len(cells) % block
    whole = torch.nn.functional.pad(cells, (0, 0, 0, below)) if below else cells
    return whole.reshape(-1, block, cells.shape[1])


def pooled(cells: Tensor, block: int) -> Tensor:
    """Return the maxima of blocks of cells (n_rows, n_cols), none below 0; NaN where any cell of a block is."""
    return in_blocks(in_blocks(cells, block).amax(1).T, block).amax(1).T
