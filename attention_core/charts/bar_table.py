"""A table of bars: a line for every word or key, and beside it a bar for every number that is known of it."""

from collections.abc import Sequence
from typing import NamedTuple

from attention_core.charts.design import Chart
from attention_core.charts.layers import corners, fixed, rectangles
from attention_core.charts.marks import FILL, mark, texts, word
from attention_core.charts.palette import DARK, FAINT, LABELS
from attention_core.charts.words import text_width

LINE, ACROSS, GAP, SIZE = 20, 170, 60, 12
"""Screen pixels: of a line, of a column of bars, between two columns, of the letters."""
WORD: dict = {"baseline": "middle", "fontSize": SIZE}


class Bars(NamedTuple):
    """A column of bars beside lines of text."""

    title: str
    values: Sequence[float]  # one per line
    limit: float  # what a whole bar stands for
    texts: Sequence[str]  # of the numbers
    colours: tuple[str, ...]  # of bars upwards from 0, and downwards; without the second one all begin at the left
    mark: float | None = None  # a number to mark, such as the uniform weight


def bar_table(
    names: Sequence[str],
    columns: Sequence[Bars],
    groups: Sequence[tuple[int, str]] = (),
    *,
    across: int = ACROSS,
    ink: str = DARK,
) -> Chart:
    """Draw one line per name, with a bar in every column; groups are headings, each with the line that it is above."""
    heads = dict(groups)
    tops, top = [], 2 * LINE
    for place in range(len(names)):
        top += LINE * (place in heads)
        tops.append(top)
        top += LINE
    left = max(text_width(name, SIZE) for name in names) + 14
    if heads:
        left = max(left, 40)
    wide = max(left + len(columns) * (across + GAP), *(text_width(head, SIZE) + 8 for head in heads.values()), 0)
    space = corners(wide, top + 4)
    middle = LINE / 2
    said = {"left": [left - 8.0] * len(names), "top": [top + middle for top in tops], "text": list(names)}
    layers = [texts(said, space, align="right", color=ink, **WORD)]
    if heads:
        above = {"left": [0.0] * len(heads), "top": [tops[at] - middle for at in heads], "text": list(heads.values())}
        layers.append(texts(above, space, align="left", color=ink, **WORD, fontWeight="bold"))
    for column, start in zip(columns, (left + number * (across + GAP) for number in range(len(columns))), strict=True):
        layers += _column(column, start, tops, space, across, ink)
    return fixed(layers, round(wide), top + 4)


def _column(column: Bars, left: float, tops: Sequence[int], space: dict, across: int, ink: str) -> list[Chart]:
    signed = len(column.colours) > 1
    zero, unit = left + across / 2 * signed, across / (1 + signed) / (column.limit or 1.0)
    lengths = [unit * value for value in column.values]
    colours = [column.colours[-1 if value < 0 else 0] for value in column.values]
    begins = [zero + min(length, 0) for length in lengths]
    bars = rectangles(begins, [top + 4 for top in tops], [abs(one) for one in lengths], LINE - 8, fill=colours)
    ends = {"left": [zero + max(one, 0) + 5 for one in lengths], "top": [top + LINE / 2 for top in tops]}
    marks = [zero, zero + unit * column.mark] if column.mark else [zero]
    lines = rectangles(marks, 1.5 * LINE, 0, tops[-1] - 0.5 * LINE)
    return [
        mark("rule", lines, space, color=FAINT),
        mark("rect", bars, space, color=FILL),
        texts(ends | {"text": column.texts}, space, align="left", color=ink, **WORD),
        word(column.title, zero, LINE / 2 + 4, space, align="center" if signed else "left", color=LABELS, **WORD),
    ]
