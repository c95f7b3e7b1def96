"""One streaming pass over a matrix of any size: block sums and maxima, and what each row and column sums up to."""

import math
import time
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from attention_core.atlas.cells import BAND, STRIP, Cells
from attention_core.attention.trace import spans
from attention_core.device import to_array
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
        self._width = cells.columns * BAND // STRIP
        self._rooms: list[Tensor] = []  # memory for the powers of a strip's cells, over and over
        self._blocks: list[Tensor] = []
        self._results: dict[str, Tensor] = {}
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

    def result(self, name: str) -> np.ndarray | None:
        return to_array(self._results[name]) if self.is_done else None

    def pooled(self, rows: slice, cols: slice, block: int) -> tuple[Tensor, Tensor]:
        """Return sums and maxima of larger blocks, NaN where a row of them was not seen."""
        if not self._blocks:
            nothing = torch.full([n_blocks(part.stop - part.start, block) for part in (rows, cols)], math.nan)
            return nothing, nothing
        where = place(rows, 0, self._block), place(cols, 0, self._block)
        sums, largest = (grid[where] for grid in self._blocks)
        return pooled(sums, largest, block // self._block)

    def _pass(self) -> Iterator[None]:
        """Go over the bands that are left, and yield after every part of one."""
        if not self._blocks:
            self._take_memory()
        for rows in spans(self._n_done * BAND, self._n_queries, BAND):
            yield from self._band(rows)
            self._share_of_band, self._n_done = 0.0, self._n_done + 1  # in this order: it is read meanwhile
        self._rooms.clear()

    def _band(self, rows: slice) -> Iterator[None]:
        """Add up the cells of a band; what is not seen is hidden by a mask and stays 0."""
        seen, block = self._cells.seen(rows), self._block
        pieces = list(spans(seen.start // block * block, seen.stop, self._width))
        strips = list(spans(rows.start, rows.stop, STRIP))
        shape = n_blocks(rows.stop - rows.start, block), n_blocks(self._n_keys, block)
        sums, largest = torch.zeros(2, *shape, device=self._room.device)
        received = torch.zeros_like(self._results["column_sums"])
        for n_before, strip in enumerate(strips):
            powers: list[Tensor] = []
            in_columns = []
            for cols in pieces:
                logs = self._cells.log2_weights(strip, cols, self._room)
                if not powers:
                    products = logs.new_zeros(self._width, logs.shape[1])
                powers.append(torch.exp2(logs, out=self._room_for(len(powers), logs)))
                cells = in_blocks(powers[-1], block)
                in_columns.append((cells.sum(1), cells.amax(1)))
                products[: len(logs)].addcmul_(logs, powers[-1])
                self._share_of_band = (n_before + len(powers) / len(pieces)) / len(strips)
                yield
            if powers:
                some, most = map(torch.cat, zip(*in_columns, strict=True))
                factors = self._weighed(strip, some.sum(0), most, products.sum(0)).to(some.dtype)
                cols = slice(pieces[0].start, pieces[-1].stop)
                received[cols] += torch.cat([torch.mv(part, factors) for part in powers])
                where = (
                    place(strip, rows.start, block),
                    place(cols, 0, block),
                )  # rows of several strips
                sums[where] += in_blocks((some * factors).T, block).sum(1)
                largest[where] = largest[where].maximum(in_blocks((most * factors).T, block).amax(1))
        for grid, found in zip(self._blocks, (sums, largest), strict=True):
            grid[place(rows, 0, block)] = found
        self._results["column_sums"] += received

    def _room_for(self, number: int, logs: Tensor) -> Tensor:
        if self._rooms and self._rooms[0].dtype != logs.dtype:
            self._rooms.clear()
        if number == len(self._rooms):
            self._rooms.append(logs.new_empty(self._width * STRIP))
        return self._rooms[number][: logs.numel()].view(logs.shape)

    def _weighed(self, strip: slice, total: Tensor, largest: Tensor, products: Tensor) -> Tensor:
        """Note what the rows of a strip come to, and return their factors: only now is known what they add up to."""
        results, total = self._results, total.to(self._cells.precise)
        factors = self._cells.factors(strip, total)
        results["row_sums"][strip] = total * factors
        results["row_largest"][strip] = largest.amax(0) * factors
        results["row_entropy"][strip] = (-factors * (products + total * factors.log2())).clamp_(min=0)
        return factors

    def _take_memory(self) -> None:
        shape = n_blocks(self._n_queries, self._block), n_blocks(self._n_keys, self._block)
        self._room = self._cells.room(STRIP, self._width)
        device, wide = self._room.device, self._cells.precise
        self._results = {"column_sums": torch.zeros(self._n_keys, dtype=wide, device=device)}
        for name in ("row_sums", "row_largest", "row_entropy"):
            self._results[name] = torch.zeros(self._n_queries, dtype=wide, device=device)
        self._blocks = [torch.full(shape, math.nan, device=device) for _ in range(2)]


def n_blocks(n_cells: int, block: int) -> int:
    return math.ceil(n_cells / block)


def place(part: slice, origin: int, block: int) -> slice:
    return slice((part.start - origin) // block, n_blocks(part.stop - origin, block))


def in_blocks(cells: Tensor, block: int) -> Tensor:
    """Return (n_blocks, block, n_cols) of cells (n_rows, n_cols): their rows in blocks, the last with zeros below."""
    below = -len(cells) % block
    whole = torch.nn.functional.pad(cells, (0, 0, 0, below)) if below else cells
    return whole.reshape(-1, block, cells.shape[1])


def pooled(sums: Tensor, largest: Tensor, block: int) -> tuple[Tensor, Tensor]:
    """Return sums and maxima of blocks, NaN where any cell of a block is.

    Args:
        sums: (n_rows, n_cols), to be added up.
        largest: (n_rows, n_cols), not negative, of which the maximum is taken; may be the same tensor.
        block: cells on its side.
    """
    total = in_blocks(in_blocks(sums, block).sum(1).T, block).sum(1)
    return total.T, in_blocks(in_blocks(largest, block).amax(1).T, block).amax(1).T
