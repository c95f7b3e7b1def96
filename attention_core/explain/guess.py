"""Predict, then see: where the largest number of a row may be, and what a guess was worth."""

from typing import NamedTuple

import numpy as np

from attention_core.attention.types import Axis, Step
from attention_core.device import to_array


class Comparison(NamedTuple):
    value: float  # the number at the guess
    best: int  # the column of the largest number
    largest: float  # that number
    rank: int  # how many numbers of the row are larger than the one at the guess


class KeyPicture(NamedTuple):
    """A picture, uint8 (height, width, 3), cut into a grid of cells that are the keys."""

    image: np.ndarray
    grid: tuple[int, int]

    def shows(self, axis: Axis) -> bool:
        """Return whether an axis is of its cells, maybe with an empty key behind them."""
        return len(axis) - self.grid[0] * self.grid[1] in (0, 1)

    def with_query(self, axis: Axis, position: int) -> np.ndarray:
        """Return the picture, in which the query is blue if it is one of the cells."""
        image = self.image.copy()
        if axis.grid == self.grid:
            height, width = image.shape[0] // self.grid[0], image.shape[1] // self.grid[1]
            row, column = divmod(position, self.grid[1])
            image[row * height : (row + 1) * height, column * width : (column + 1) * width] = QUERY_BLUE
        return image


QUERY_BLUE = (0, 114, 178)


def options(step: Step, head: int, row: int) -> list[int]:
    """Return up to three columns of a row to guess among: those of its largest, a middling and its smallest number.

    They come in order; none where there is nothing to guess: fewer than two different numbers.
    """
    values = row_values(step, head, row)
    order = np.argsort(-values, kind="stable")[: int(np.isfinite(values).sum())]
    if len(order) < 2 or values[order[0]] == values[order[-1]]:
        return []
    return sorted({int(order[index]) for index in (0, len(order) // 2, -1)})


def compare(step: Step, head: int, row: int, column: int) -> Comparison:
    """Return what a guess was worth: the number there beside the largest of its row."""
    values = row_values(step, head, row)
    best = int(np.argmax(values))
    return Comparison(float(values[column]), best, float(values[best]), int((values > values[column]).sum()))


def row_values(step: Step, head: int, row: int) -> np.ndarray:
    """Return the numbers of a row of a step, float (n_columns,); masked ones are -inf."""
    values = to_array(step.value(head, [row]).float())[0]
    return np.where(np.isnan(values), -np.inf, values)
