"""Many states in, one vector out: drawn to scale, and what laying them end to end would have cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import altair as alt
import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.layers import corners, fixed
from attention_core.charts.palette import ROLE_COLOURS, signed_ramp
from attention_core.charts.raster import png_url

ROW = 13
"""Screen pixels of one vector."""


def collapse_chart(
    words: Sequence[str], states: np.ndarray, weights: np.ndarray, context: np.ndarray, *, width: int = 520
) -> alt.LayerChart:
    """Draw n states as rows, the weight of each beside it, and below them the one vector that became of them.

    Args:
        words: n texts.
        states: float (n, d).
        weights: float (n,), they sum to 1.
        context: float (d,).
        width: screen pixels of a vector.
    """
    n = len(words)
    ramp = signed_ramp(states)
    below = n + 2
    images = pd.DataFrame(
        [
            {"url": png_url(states, ramp), "left": 0.0, "right": width, "top": 0.0, "bottom": n},
            {"url": png_url(context[None], ramp), "left": 0.0, "right": width, "top": below, "bottom": below + 1},
        ]
    )
    bar_room = 0.22 * width
    rows = pd.DataFrame(
        {
            "word": list(words),
            "weight": [float(one) for one in weights],
            "left": width + 8.0,
            "right": [width + 8.0 + max(1.0, bar_room * float(one)) for one in weights],
            "top": [place + 0.15 for place in range(n)],
            "bottom": [place + 0.85 for place in range(n)],
            "middle": [place + 0.5 for place in range(n)],
        }
    )
    height = ROW * (below + 1)
    x = alt.X("left:Q", axis=None, scale=alt.Scale(domain=[-86, width + 16 + bar_room], nice=False))
    space = corners(width, below + 1) | {"x": x}
    pictures = (
        alt.Chart(images).mark_image(smooth=False, aspect=False, aria=False).encode(**space, url=alt.Url("url:N"))
    )
    bars = (
        alt.Chart(rows)
        .mark_rect(color=ROLE_COLOURS[Role.WEIGHTS])
        .encode(
            **space,
            tooltip=[alt.Tooltip("word:N", title="encoder's state at"), alt.Tooltip("weight:Q", format=".1%")],
        )
    )
    names = pd.concat(
        [
            rows[["word", "middle"]].assign(role="key"),
            pd.DataFrame([{"word": "context", "middle": below + 0.5, "role": "context"}]),
        ]
    ).assign(left=-6.0)
    roles = alt.Scale(domain=["key", "context"], range=[ROLE_COLOURS[Role.KEY], ROLE_COLOURS[Role.CONTEXT]])
    labels = (
        alt.Chart(names)
        .mark_text(align="right", baseline="middle", fontSize=10, limit=78, aria=False)
        .encode(x=x, y=alt.Y("middle:Q"), text=alt.Text("word:N"), color=alt.Color("role:N", scale=roles, legend=None))
    )
    arrow = (
        alt.Chart(pd.DataFrame([{"left": width / 2, "middle": n + 1.0, "word": f"weighted sum of {n}  ↓"}]))
        .mark_text(fontSize=11, baseline="middle", color=ROLE_COLOURS[Role.CONTEXT], aria=False)
        .encode(x=x, y=alt.Y("middle:Q"), text=alt.Text("word:N"))
    )
    return fixed([pictures, bars, labels, arrow], round(width + 102 + bar_room), height)


def cost_chart(
    attention: Callable[[int], int], concatenation: Callable[[int], int], most: int, chosen: int, *, height: int = 230
) -> alt.LayerChart:
    """Draw how many numbers are handed over for 1 to `most` states, with the chosen number marked.

    Args:
        attention: n -> numbers.
        concatenation: n -> numbers.
        most: the largest n.
        chosen: the marked n.
        height: screen pixels.
    """
    names = ("attention: one vector", "all states end to end")
    frame = pd.DataFrame(
        [
            {"n": n, "numbers": count(n), "way": name}
            for name, count in zip(names, (attention, concatenation), strict=True)
            for n in range(1, most + 1)
        ]
    )
    colour = alt.Color(
        "way:N",
        scale=alt.Scale(domain=list(names), range=[ROLE_COLOURS[Role.CONTEXT], ROLE_COLOURS[Role.KEY]]),
        legend=alt.Legend(orient="top", title=None, labelLimit=240),
    )
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("n:Q", title="states n", scale=alt.Scale(domain=[1, most], nice=False)),
            y=alt.Y("numbers:Q", title="numbers handed over", axis=alt.Axis(format="~s", tickCount=4)),
            color=colour,
        )
    )
    points = (
        alt.Chart(frame[frame["n"] == chosen])
        .mark_point(size=70, filled=True, opacity=1)
        .encode(
            x=alt.X("n:Q"),
            y=alt.Y("numbers:Q"),
            color=colour,
            tooltip=[alt.Tooltip("way:N"), alt.Tooltip("n:Q"), alt.Tooltip("numbers:Q", format=",")],
        )
    )
    return alt.layer(lines, points).properties(height=height)
