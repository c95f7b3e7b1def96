"""Who may look at whom: a matrix of cells, the hidden ones grey, and the word that comes out of each row."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from attention_core.attention.types import Role
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import Columns
from attention_core.charts.layers import FILL, QUIET, clickable, corners, fixed_size, hover_cells, named, texts
from attention_core.charts.ramps import ROLE_COLOURS, TEXT_COLOUR

RIGHT, WRONG, OPEN, HIDDEN = "#009E73", "#D55E00", "#8a93a028", "#747b86"
MIN_CELL, MAX_CELL, MATRIX = 17, 50, 300  # screen pixels: of a cell's side, and of the matrix's
LEFT, GAP, FOOT = 92, 12, 22  # screen pixels around the matrix
LETTERS, LETTER_WIDTH = 15, 9  # screen pixels
MAX_WIDTH = 140  # screen pixels of a text
UNREAD = 0.15  # opacity of rows that are not read yet


class RowText(NamedTuple):
    """A text behind a row: a word that is foreseen, or a number."""

    text: str
    is_right: bool | None = None  # None = nothing tells

    @property
    def label(self) -> str:
        """The text, and a mark that tells without colours whether it is right."""
        return self.text + {None: "", True: " ✓", False: " ✗"}[self.is_right]

    @property
    def colour(self) -> str:
        """The colour of its label."""
        return {None: TEXT_COLOUR, True: RIGHT, False: WRONG}[self.is_right]


def mask_chart(
    labels: Sequence[str],
    mask: np.ndarray,
    weights: np.ndarray,
    columns: Mapping[str, Sequence[RowText]],
    *,
    below: Sequence[str] = (),
    select: str | None = None,
) -> Chart:
    """Draw which keys each query may attend to: hidden cells are grey; a square in a cell is as large as its weight.

    Args:
        labels: of the n positions.
        mask: bool (n, n), True = may attend.
        weights: (n, n); NaN in rows that are not read yet.
        columns: what stands behind each row, by the heading of its column.
        below: a text below each column of the matrix; () = none.
        select: the name of the selection that a click makes, which has the fields "row" and "col".
    """
    n = len(labels)
    cell = max(MIN_CELL, min(MAX_CELL, MATRIX // n))
    top = 2 * GAP + round(0.7 * _width_of(labels))  # its labels are at an angle
    middles, right, bottom = cell * (np.arange(n) + 0.5), LEFT + cell * n, top + cell * n
    behind = [[RowText(name), *texts_of_rows] for name, texts_of_rows in columns.items()]
    words = [word for column in behind for word in column]
    widths = [GAP + _width_of([word.label for word in column]) for column in behind]
    lefts = np.repeat(right + GAP + np.cumsum([0, *widths])[:-1], n + 1)
    tops = np.tile([top - GAP, *(top + middles)], len(columns))
    rows, cols = np.divmod(np.arange(n * n), n)
    shares = weights[rows, cols]
    cells = {
        "row": rows,
        "col": cols,
        "fill": np.where(mask[rows, cols], OPEN, HIDDEN).tolist(),
        "opacity": np.where(np.isfinite(shares), 1, UNREAD),
        "query": [labels[row] for row in rows],
        "key": [labels[col] for col in cols],
        "weight": np.nan_to_num(shares),
    }
    data = {
        "cells": cells | _squares(rows, cols, top, cell, cell - 2),
        "squares": _squares(rows, cols, top, cell, (cell - 2) * np.sqrt(np.nan_to_num(shares))),
        "words": _texts(labels, LEFT - 8, top + middles),
        "above": _texts(labels, LEFT + middles, top - 8),
        "behind": _texts([word.label for word in words], lefts, tops) | {"fill": [word.colour for word in words]},
        "below": _texts(below, LEFT + middles[: len(below)], bottom + GAP),
    }
    return Chart(_mask_chart(right + GAP + sum(widths), bottom + FOOT * bool(below), select), data)


def _squares(rows: np.ndarray, cols: np.ndarray, first_top: int, cell: int, sides: Any) -> Columns:
    """Return squares in the middle of cells."""
    left, top = LEFT + cell * (cols + 0.5) - sides / 2, first_top + cell * (rows + 0.5) - sides / 2
    return {"left": left, "right": left + sides, "top": top, "bottom": top + sides}


def _width_of(labels: Sequence[str]) -> int:
    """Return about how wide the longest label is, in screen pixels."""
    return min(MAX_WIDTH, LETTER_WIDTH * max(map(len, labels)))


def _texts(labels: Sequence[str], left: Any, top: Any) -> Columns:
    spread = np.ones(len(labels))
    return {"text": list(labels), "left": left * spread, "top": top * spread}


@compiled
def _mask_chart(width: int, height: int, select: str | None) -> alt.LayerChart:
    space = corners(width, height)
    tooltip = [
        alt.Tooltip("query:N", title="query"),
        alt.Tooltip("key:N", title="key"),
        alt.Tooltip("weight:Q", format=".1%"),
    ]
    opacity = alt.Opacity("opacity:Q", scale=None)
    ground = named("cells").mark_rect(**QUIET, cornerRadius=2).encode(**space, color=FILL, opacity=opacity)
    squares = named("squares").mark_rect(**QUIET, color=ROLE_COLOURS[Role.WEIGHTS]).encode(**space)
    cells = hover_cells("cells", space, *tooltip)
    words: dict[str, Any] = {"fontSize": LETTERS, "color": TEXT_COLOUR}
    layers = [
        ground,
        squares,
        clickable(cells, select, "row", "col") if select else cells,
        texts("words", space, align="right", limit=LEFT - GAP, **words),
        texts("above", space, align="left", angle=315, limit=MAX_WIDTH, **words),
        texts("behind", space, align="left", fontSize=LETTERS, limit=MAX_WIDTH).encode(color=FILL),
        texts("below", space, fontSize=12, color=TEXT_COLOUR),
    ]
    return fixed_size(layers, width, height)
