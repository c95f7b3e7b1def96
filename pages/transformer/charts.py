"""Charts of who may look at whom, of what a sequence costs, and of how alike positions are that lie apart."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from attention_core.attention.types import Role
from attention_core.charts.bars import SERIES
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import Columns
from attention_core.charts.layers import (
    FILL,
    QUIET,
    clickable,
    corners,
    fixed_size,
    hover_cells,
    named,
    series_colour,
    texts,
)
from attention_core.charts.ramps import ROLE_COLOURS, TEXT_COLOUR
from attention_core.evaluate.trained_forms import Trainings
from pages.transformer.cost import LAYER_NAMES, CostRow, expected_line, measured

COLOURS = ("#6B7785", "#D55E00", "#0072B2")
UNITS = {"milliseconds": "time (ms)", "megabytes": "memory (MB)"}
LINE = "#1B6CA8"
RIGHT, WRONG, OPEN, HIDDEN = "#009E73", "#D55E00", "#8a93a028", "#747b86"
MIN_CELL, MATRIX = 17, 300  # screen pixels: of a cell's side, and of the matrix's
FEWEST = 6  # positions for which a matrix has room
LEFT, GAP, FOOT = 92, 12, 22  # screen pixels around the matrix
LETTERS, LETTER_WIDTH = 15, 9  # screen pixels
MAX_WIDTH = 140  # screen pixels of a text
UNREAD = 0.15  # opacity of rows that are not read yet


def cost_chart(rows: Sequence[CostRow], field: str) -> Chart:
    """Draw "milliseconds" or "megabytes" over n for all ways, measured as lines with points, expected slopes dashed."""
    points, slopes = (
        [(title, n, value) for name, title in LAYER_NAMES.items() for n, value in pairs(rows, name, field)]
        for pairs in (measured, expected_line)
    )
    spec = _cost_chart(tuple(sorted({row["n"] for row in rows})), UNITS[field])
    return Chart(spec, {"slopes": _columns(slopes), "points": _columns(points)})


@compiled
def _cost_chart(sizes: tuple[int, ...], unit: str) -> alt.LayerChart:
    across = alt.Axis(values=list(sizes), format="~s" if max(sizes, default=0) > 99999 else "d", grid=False)
    powers = alt.Axis(values=[10.0**power for power in range(-4, 7)], format="~g")
    channels = (
        alt.X("n:Q", title="n, positions", scale=alt.Scale(type="log", base=2, nice=False), axis=across),
        alt.Y("value:Q", title=unit, scale=alt.Scale(type="log"), axis=powers),
        series_colour("way", [*LAYER_NAMES.values()], COLOURS, offset=2, columns=1, labelLimit=260),
    )
    tooltip = [
        alt.Tooltip("way:N"),
        alt.Tooltip("n:Q", format=","),
        alt.Tooltip("value:Q", title=unit, format=".3g"),
    ]
    dashed = named("slopes").mark_line(**QUIET, strokeDash=[4, 4], strokeWidth=1.3, opacity=0.75)
    lines = named("points").mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=34))
    lines = lines.encode(*channels, tooltip=tooltip)
    return alt.LayerChart(layer=[dashed.encode(*channels), lines], height=350)


def _columns(rows: Sequence[tuple[str, int, float]]) -> dict[str, list]:
    return {name: [row[index] for row in rows] for index, name in enumerate(("way", "n", "value"))}


def distance_chart(distances: np.ndarray, products: np.ndarray, title: str) -> Chart:
    """Draw a dot product over the distance of two positions."""
    x = alt.X("distances:Q", title="distance j - i", axis=alt.Axis(grid=False, tickCount=9))
    y = alt.Y("products:Q", title=title, axis=alt.Axis(tickCount=4))
    tooltip = [alt.Tooltip("distances:Q", title="distance"), alt.Tooltip("products:Q", format=".4g")]
    line = named("products").mark_line(color=LINE, strokeWidth=2).encode(x, y, tooltip=tooltip)
    data = {"products": {"distances": distances, "products": products}}
    return Chart.of(alt.LayerChart(layer=[line], height=270), data)


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
    side: int = MATRIX,
) -> Chart:
    """Draw which keys each query may attend to: hidden cells are grey; a square in a cell is as large as its weight.

    Args:
        labels: of the n positions.
        mask: bool (n, n), True = may attend.
        weights: (n, n); NaN in rows that are not read yet.
        columns: what stands behind each row, by the heading of its column.
        below: a text below each column of the matrix; () = none.
        select: the name of the selection that a click makes, which has the fields "row" and "col".
        side: of the matrix, in screen pixels.
    """
    n = len(labels)
    cell = max(MIN_CELL, side // max(n, FEWEST))
    top = 2 * GAP + round(0.87 * _width_of(labels))  # its labels are at an angle
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
        texts("above", space, align="left", angle=300, limit=MAX_WIDTH, **words),
        texts("behind", space, align="left", fontSize=LETTERS, limit=MAX_WIDTH).encode(color=FILL),
        texts("below", space, fontSize=12, color=TEXT_COLOUR),
    ]
    return fixed_size(layers, width, height)


FORM_COLOURS = SERIES[0], SERIES[2], SERIES[3]


def forms_chart(forms: Mapping[str, Trainings]) -> Chart:
    """Draw the BLEU of each form, by its name, over all sentences and by length: a mark per seed."""
    points = [
        {"form": name, "sentences": group, "BLEU": score, "seed": row["seed"]}
        for name, trainings in forms.items()
        for row in trainings
        for group, score in ({"all": row["test"]["bleu"]} | row["test"]["bleu_by_length"]).items()
    ]
    groups, names = list(dict.fromkeys(point["sentences"] for point in points)), list(forms)
    columns = {field: [point[field] for point in points] for field in ("form", "sentences", "BLEU", "seed")}
    channels = (
        alt.X("sentences:N", sort=groups, title="words of the English sentence", axis=alt.Axis(labelAngle=0)),
        alt.XOffset("form:N", sort=names),
        alt.Y("BLEU:Q", axis=alt.Axis(tickCount=5)),
        series_colour("form", names, FORM_COLOURS, columns=1, labelLimit=260),
    )
    tooltip = ["form:N", "sentences:N", "seed:N", alt.Tooltip("BLEU:Q", format=".1f")]
    marks = named("trainings", height=330).mark_point(filled=True, size=70, opacity=1)
    return Chart.of(marks.encode(*channels, tooltip=tooltip), {"trainings": columns})
