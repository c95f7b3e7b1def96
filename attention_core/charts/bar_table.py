"""A table of bars: a line for every word or key, and beside it a bar for every number that is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attention_core.charts.design import Design, alt
from attention_core.charts.layers import corners, fixed, rectangles
from attention_core.charts.marks import texts
from attention_core.charts.palette import DARK, FAINT, LABELS
from attention_core.charts.words import text_width

LINE, ACROSS, GAP, SIZE = 20, 170, 60, 12
"""Screen pixels: of a line, of a column of bars, between two columns, of the letters."""
WORD = {"baseline": "middle", "fontSize": SIZE}


class Bars(NamedTuple):
    """A column of the table.

    Attributes:
        title: above it.
        values: one number per line.
        limit: what a whole bar stands for.
        texts: of the numbers.
        colours: of a bar from 0 upwards, and from 0 downwards; without the second one all begin at the left.
        mark: a number to mark, such as the uniform weight, or None.
    """

    title: str
    values: Sequence[float]
    limit: float
    texts: Sequence[str]
    colours: tuple[str, ...]
    mark: float | None = None


def bar_table(
    names: Sequence[str],
    columns: Sequence[Bars],
    groups: Sequence[tuple[int, str]] = (),
    *,
    across: int = ACROSS,
    ink: str = DARK,
) -> Design:
    """Draw one line per name, with a bar in every column.

    Args:
        names: of the lines.
        columns: the numbers.
        groups: headings, each with the line that it stands above.
        across: screen pixels of a column of bars.
        ink: colour of the words.
    """
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


def _column(column: Bars, left: float, tops: Sequence[int], space: dict, across: int, ink: str) -> list[Design]:
    signed = len(column.colours) > 1
    zero, unit = left + across / 2 * signed, across / (1 + signed) / (column.limit or 1.0)
    lengths = [unit * value for value in column.values]
    colours = [column.colours[-1 if value < 0 else 0] for value in column.values]
    begins = [zero + min(length, 0) for length in lengths]
    bars = rectangles(begins, [top + 4 for top in tops], [abs(one) for one in lengths], LINE - 8, fill=colours)
    ends = {"left": [zero + max(one, 0) + 5 for one in lengths], "top": [top + LINE / 2 for top in tops]}
    title = {"left": [zero], "top": [LINE / 2 + 4], "text": [column.title]}
    marks = [zero, zero + unit * column.mark] if column.mark else [zero]
    lines = rectangles(marks, 1.5 * LINE, 0, tops[-1] - 0.5 * LINE)
    rule = alt.Chart(lines).mark_rule(color=FAINT, aria=False)
    return [
        rule.encode(x=space["x"], y=space["y"], y2="bottom"),
        alt.Chart(bars).mark_rect(aria=False).encode(**space, color=alt.Color("fill:N", scale=None)),
        texts(ends | {"text": list(column.texts)}, space, align="left", color=ink, **WORD),
        texts(title, space, align="center" if signed else "left", color=LABELS, **WORD),
    ]
