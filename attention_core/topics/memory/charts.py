"""Charts of what a recurrent network remembers: states over time, how much a word matters to a state, the cure."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts.design import (
    FILL,
    LABELS,
    MASKED,
    ROLE_COLOURS,
    VIRIDIS,
    Chart,
    Ramp,
    alt,
    cells_frame,
    clickable,
    colour_bar,
    colour_bar_layer,
    colour_scale,
    corners,
    fixed,
    from_to,
    haloed,
    images,
    mark,
    mouse_cells,
    names_at,
    rectangles,
    texts,
    word,
)
from attention_core.charts.heatmap import block, png_url, row_mark
from attention_core.charts.words import text_width

DECADES = 4
"""Powers of ten that logarithmic colours and axes span at most; what is smaller is drawn as the smallest."""
PER_LABEL = 15  # screen pixels that a slanted word at an axis needs


def over_time(
    values: np.ndarray,
    labels: Sequence[str],
    ramp: Ramp,
    *,
    title: str,
    bar: str | None = None,
    columns: Mapping[str, Sequence[Any]],
    read: Sequence[bool],
    now: int | None = None,
    size: tuple[int, int] = (480, 192),
    words: bool = True,
) -> Chart:
    """Draw numbers (d, n) that change while a sentence is read: time runs to the right, dimensions downwards.

    More rows than screen pixels are averaged in whole blocks. Columns are what the mouse tells, name -> n values, of
    those that are read by now; the one that is read at this moment is framed. The title stands above the chart, that
    of the colour bar, if there is one, and the words, if wanted, below.
    """
    n = len(labels)
    width, height = size
    there = np.asarray(read, dtype=bool)
    rows = -(-len(values) // height), 1
    sums, sizes = (block(some, rows, np.add.reduceat) for some in (values, np.ones_like(values)))
    middles = [place + 0.5 for place in range(n)]
    axis = alt.Axis(values=middles, labelAngle=-45, grid=False, **_word_labels(labels, width)) if words else None
    x = alt.X("left:Q", title=None, scale=from_to(0, n), axis=axis)
    space = corners(n, 1, x=x, y=alt.Y("top:Q", title=None, axis=None, scale=from_to(1, 0)))
    data = {name: np.asarray(some)[there] for name, some in rectangles(range(n), 0, **columns).items()}
    told = [
        (f"{name}:N",) if isinstance(some[0], str) else (f"{name}:Q", "", "" if isinstance(some[0], int) else ".3g")
        for name, some in columns.items()
    ]
    url = png_url(np.where(there, sums / sizes, np.nan), ramp)
    layers = [images(rectangles(0, 0, n, url=url), space, clip=True), mouse_cells(data, space, *told)]
    if bar is not None:
        layers.append(colour_bar_layer(ramp, bar, min(width, 200)))
    if now is not None:
        layers += haloed(rectangles(now, 0), space, (4, 2))
    heading = alt.Title(title, anchor="start", fontSize=12, fontWeight="normal", offset=4)
    return fixed(layers, width, height, title=heading)


def gradient_ramp(matrices: Sequence[np.ndarray], logarithmic: bool = False) -> Ramp:
    """Return one ramp for matrices that are compared, NaN = nothing there.

    A logarithmic one is for log10 of the values, over at most DECADES powers of ten.
    """
    values = np.concatenate([cells[np.isfinite(cells) & (cells > 0)] for cells in matrices] or [np.ones(1)])
    high = float(values.max(initial=0.0)) or 1.0
    if not logarithmic:
        return Ramp(VIRIDIS, 0.0, high)
    least = max(float(values.min(initial=high)), high * 10.0**-DECADES)
    return Ramp(VIRIDIS, float(np.log10(min(least, high / 10))), float(np.log10(high)))


def gradient_heatmap(
    matrix: np.ndarray,
    labels: Sequence[str],
    ramp: Ramp,
    *,
    title: str,
    told: np.ndarray,
    logarithmic: bool = False,
    marked_row: int | None = None,
    select: str | None = None,
    size: int = 420,
) -> Chart:
    """Draw how much each word (column) matters to each state (row), (n, n); NaN = it cannot know it, a grey cell.

    The ramp is from gradient_ramp, logarithmic or not, and shared by charts that are compared; told (n, n) are the
    sentences that the mouse tells of each cell. The present state's row is framed, and a point selection over cells
    has the fields row and col.
    """
    cells = cells_frame(matrix, labels, labels) | {"told": told.ravel()}
    cells["shown"] = np.log10(np.clip(cells["value"], 1e-30, None)) if logarithmic else cells["value"]
    text, ticks = "format(pow(10, datum.value), '.2~r')", np.linspace(ramp.low, ramp.high, 3).tolist()
    powers = {"values": ticks, "labelExpr": text} if logarithmic else {}
    bar = colour_bar(ramp, title, min(size, 260), **powers)
    names, shown = _word_labels(labels, size), alt.Color("shown:Q", scale=colour_scale(ramp), legend=bar)
    space = {
        "x": alt.X("col:O", title="how much does this word matter", axis=alt.Axis(labelAngle=-45, **names)),
        "y": alt.Y("row:O", title="to the state after this one?", axis=alt.Axis(**names)),
        "color": alt.condition("datum.masked", alt.value(f"{MASKED}40"), shown),
    }
    drawn = mark("rect", cells, space, ("told:N", " "), invalid=None)
    layers = [clickable(drawn, select, "row", "col", clear=alt.Undefined)]
    if marked_row is not None:
        layers += row_mark(marked_row, size / len(labels))
    return fixed(layers, size, size)


def _word_labels(labels: Sequence[str], length: int) -> dict[str, Any]:
    every = -(-len(labels) * PER_LABEL // max(length, 1)) or 1
    return {
        "labelExpr": names_at(labels, "floor(datum.value)", every),
        "labelLimit": 90,
        "ticks": False,
        "domain": False,
        "labelOverlap": "greedy",
        "labelSeparation": -200,
    }


LINE, ACROSS, NUMBER, HEAD, SIZE = 18, 112, 34, 22, 12
"""Screen pixels: of a line, of the longest bar, of a number beside it, of what stands above, of the letters."""


def cure_chart(
    words: Sequence[str], last: np.ndarray, context: np.ndarray, *, marked: int, own: Sequence[bool] = ()
) -> Chart:
    """Draw one line per word: to the left what the last states know of it, to the right what the context knows.

    Both are shares (n,) on one scale. The marked word is bold; words that are not the sentence's own are faint.
    """
    n, middle = len(words), max(text_width(one, SIZE) for one in words) + 16
    limit, left = max(float(last.max()), float(context.max()), 1e-9), ACROSS + NUMBER
    right = left + middle
    wide, tops = right + ACROSS + NUMBER, HEAD + LINE * np.arange(n)
    space = corners(wide, HEAD + LINE * n)
    strength = ["ff" if mine else "55" for mine in own or [True] * n]
    layers = []
    for name, values, start, way, role in (
        ("last states", last, left, -1, Role.KEY),
        ("context", context, right, 1, Role.CONTEXT),
    ):
        long, align = ACROSS * values / limit, "right" if way < 0 else "left"
        fill = [ROLE_COLOURS[role] + share for share in strength]
        bars = rectangles(np.minimum(start, start + way * long), tops + 4, long, LINE - 8, fill=fill)
        said = [f"{100 * value:.{0 if value >= 0.0095 else 1}f}%" for value in values]
        ends = {"left": start + way * (long + 4), "top": tops + LINE / 2, "text": said}
        layers += [
            mark("rect", bars, space, color=FILL),
            texts(ends, space, align=align, fontSize=11, color=LABELS, baseline="middle"),
            word(name, start, HEAD / 2, space, align=align, fontSize=SIZE, fontWeight="bold", color=ROLE_COLOURS[role]),
        ]
    names = {"left": np.full(n, left + middle / 2), "top": tops + LINE / 2, "text": np.array(words, object)}
    for weight, chosen in (("normal", np.arange(n) != marked), ("bold", np.arange(n) == marked)):
        some = {name: column[chosen] for name, column in names.items()}
        layers.append(texts(some, space, baseline="middle", fontSize=SIZE, fontWeight=weight, color=LABELS))
    lines = rectangles(0.0, tops, wide, LINE, word=list(words), last=last, context=context)
    told = ("word:N", ("last:Q", "last states", ".1%"), ("context:Q", "context", ".1%"))
    return fixed([*layers, mouse_cells(lines, space, *told)], round(wide), HEAD + LINE * n)
