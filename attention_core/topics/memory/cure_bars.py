"""What the last state knows of every word against what the context knows: bars to both sides of the words."""

from collections.abc import Sequence

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts.design import ChartTemplate
from attention_core.charts.layers import corners, fixed, rectangles
from attention_core.charts.marks import FILL, mark, mouse_cells, texts, word
from attention_core.charts.palette import LABELS, ROLE_COLOURS
from attention_core.charts.words import text_width

LINE, ACROSS, NUMBER, HEAD, SIZE = 18, 112, 34, 22, 12
"""Screen pixels: of a line, of the longest bar, of a number beside it, of what stands above, of the letters."""


def cure_chart(
    words: Sequence[str], last: np.ndarray, context: np.ndarray, *, marked: int, own: Sequence[bool] = ()
) -> ChartTemplate:
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
