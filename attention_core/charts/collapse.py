"""Many states in, one vector out: drawn to scale, and what laying them end to end would have cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.design import Design, alt
from attention_core.charts.layers import corners, fixed, rectangles
from attention_core.charts.marks import images, texts, tips
from attention_core.charts.palette import ROLE_COLOURS, signed_ramp
from attention_core.charts.raster import png_url
from attention_core.charts.scale import from_to, one_each, wrapping

ROW = 13
"""Screen pixels of one vector."""


def collapse_chart(
    words: Sequence[str],
    states: np.ndarray,
    weights: np.ndarray,
    context: np.ndarray,
    *,
    width: int = 520,
    multiplied: bool = False,
) -> Design:
    """Draw n states (n, d) as rows, the weight of each beside it, and below them the one vector that became of them.

    The weights (n,) sum to 1, the context is (d,), and there is a word per state; a vector is so wide on the screen.
    States that are multiplied by their weights already come with the shares that they have in the context instead.
    """
    n = len(words)
    ramp = signed_ramp(states)
    below = n + 2
    urls = [png_url(rows, ramp) for rows in (states, context[None])]
    pictures = rectangles(0.0, [0.0, below], width, [n, 1], url=urls)
    bar_room = 0.22 * width
    shares = np.array(weights, dtype=float)
    places = np.arange(n)
    reach = bar_room * shares / max(1.0, float(shares.max() - shares.min(initial=0)))
    zero = width + 8.0 - min(0.0, float(reach.min()))
    told = {"word": list(words), "weight": shares, "middle": places + 0.5}
    rows = rectangles(zero + np.minimum(0, reach), places + 0.15, np.maximum(1.0, np.abs(reach)), 0.7, **told)
    x = alt.X("left:Q", axis=None, scale=from_to(-86, width + 16 + bar_room))
    space = corners(width, below + 1, x=x)
    middle = {"x": x, "y": alt.Y("middle:Q")}
    bars = alt.Chart(rows).mark_rect(color=ROLE_COLOURS[Role.CONTEXT if multiplied else Role.WEIGHTS])
    tooltip = tips(("word:N", "encoder's state at"), ("weight:Q", "of the context" if multiplied else "", ".1%"))
    middles, roles_of = [*rows["middle"], below + 0.5], ["key"] * n + ["context"]
    names = rectangles(-6.0, middles, word=[*words, "context"], middle=middles, role=roles_of)
    roles = one_each(["key", "context"], [ROLE_COLOURS[Role.KEY], ROLE_COLOURS[Role.CONTEXT]])
    labels = texts(names, middle, "word", align="right", baseline="middle", fontSize=11, limit=78)
    sum_of = f"{'sum' if multiplied else 'weighted sum'} of {n}  ↓"
    arrow = {"left": [width / 2], "middle": [n + 1.0], "word": [sum_of]}
    layers = [
        images(pictures, space),
        bars.encode(**space, tooltip=tooltip),
        labels.encode(color=alt.Color("role:N", scale=roles, legend=None)),
        texts(arrow, middle, "word", fontSize=11, baseline="middle", color=ROLE_COLOURS[Role.CONTEXT]),
    ]
    return fixed(layers, round(width + 102 + bar_room), ROW * (below + 1))


def cost_chart(
    attention: Callable[[int], int], concatenation: Callable[[int], int], most: int, chosen: int, *, height: int = 230
) -> Design:
    """Draw how many numbers are handed over for 1 to `most` states, with the chosen number of states marked.

    Attention and concatenation say how many for n states.
    """
    names = ("attention: one vector", "all states end to end")
    frame = pd.DataFrame(
        {"n": n, "numbers": count(n), "way": name}
        for name, count in zip(names, (attention, concatenation), strict=True)
        for n in range(1, most + 1)
    )
    legend = alt.Legend(orient="top", title=None, labelLimit=240, columns=wrapping(names))
    colours = one_each(names, [ROLE_COLOURS[Role.CONTEXT], ROLE_COLOURS[Role.KEY]])
    colour = alt.Color("way:N", scale=colours, legend=legend)
    lines = alt.Chart(frame).mark_line(strokeWidth=2.5)
    points = alt.Chart(frame[frame["n"] == chosen]).mark_point(size=70, filled=True, opacity=1)
    tooltip = tips("way:N", "n:Q", ("numbers:Q", "", ","))
    return alt.layer(
        lines.encode(
            x=alt.X("n:Q", title="states n", scale=from_to(1, most)),
            y=alt.Y("numbers:Q", title="numbers handed over", axis=alt.Axis(format="~s", tickCount=4)),
            color=colour,
        ),
        points.encode(x=alt.X("n:Q"), y=alt.Y("numbers:Q"), color=colour, tooltip=tooltip),
        height=height,
    )
