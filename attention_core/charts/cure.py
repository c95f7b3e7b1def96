"""What the last state knows of every word against what the context knows: bars to both sides of the words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts.design import Design, alt
from attention_core.charts.layers import corners, fixed, rectangles
from attention_core.charts.marks import mouse_cells, texts
from attention_core.charts.palette import LABELS, ROLE_COLOURS
from attention_core.charts.words import text_width

LINE, ACROSS, NUMBER, HEAD, SIZE = 18, 112, 34, 22, 12
"""Screen pixels: of a line, of the longest bar, of a number beside it, of what stands above, of the letters."""


def cure_chart(
    words: Sequence[str], last: np.ndarray, context: np.ndarray, *, marked: int, own: Sequence[bool] = ()
) -> Design:
    """Draw one line per word: to the left what the last states know of it, to the right what the context knows.

    Args:
        words: in their order.
        last: one share per word, (n,).
        context: likewise; both have one scale.
        marked: the word in bold.
        own: whether a word belongs to the sentence itself; the others are faint. All do if empty.
    """
    n, middle = len(words), max(text_width(word, SIZE) for word in words) + 16
    limit, left = max(float(last.max()), float(context.max()), 1e-9), ACROSS + NUMBER
    right = left + middle
    wide, tops = right + ACROSS + NUMBER, HEAD + LINE * np.arange(n)
    space = corners(wide, HEAD + LINE * n)
    strength = ["ff" if mine else "55" for mine in own or [True] * n]
    layers = []
    for values, start, way, role in ((last, left, -1, Role.KEY), (context, right, 1, Role.CONTEXT)):
        long = ACROSS * values / limit
        fill = [ROLE_COLOURS[role] + share for share in strength]
        bars = rectangles(start - long if way < 0 else start, tops + 4, long, LINE - 8, fill=fill)
        layers.append(alt.Chart(bars).mark_rect(aria=False).encode(**space, color=alt.Color("fill:N", scale=None)))
        said = [f"{100 * value:.{0 if value >= 0.0095 else 1}f}%" for value in values]
        ends = {"left": start + way * (long + 4), "top": tops + LINE / 2, "text": said}
        align = "right" if way < 0 else "left"
        layers.append(texts(ends, space, align=align, baseline="middle", fontSize=11, color=LABELS))
        head = {"left": [start], "top": [HEAD / 2], "text": ["last states" if way < 0 else "context"]}
        look = {"fontSize": SIZE, "fontWeight": "bold", "color": ROLE_COLOURS[role]}
        layers.append(texts(head, space, align=align, baseline="middle", **look))
    lines = rectangles(0.0, tops, wide, LINE, word=list(words), last=last, context=context)
    lines |= {"x": [left + middle / 2] * n, "y": tops + LINE / 2}
    at = {"x": alt.X("x:Q", axis=None), "y": alt.Y("y:Q", axis=None)}
    is_marked = np.arange(n) == marked
    for weight, chosen in (("normal", ~is_marked), ("bold", is_marked)):
        some = {name: np.asarray(column)[chosen] for name, column in lines.items()}
        layers.append(texts(some, at, "word", baseline="middle", fontSize=SIZE, fontWeight=weight, color=LABELS))
    told = ("word:N", ("last:Q", "last states", ".1%"), ("context:Q", "context", ".1%"))
    return fixed([*layers, mouse_cells(lines, space, *told)], round(wide), HEAD + LINE * n)
