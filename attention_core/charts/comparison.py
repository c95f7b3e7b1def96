"""The same query and keys through several scoring functions: scores and weights as bars on common axes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from attention_core.charts.palette import ROLE_COLOURS
from attention_core.trace import Role

TEXT = "#747D89"
"""Grey that is legible on light and on dark paper: text marks do not follow the theme."""
BAR = 13
"""Screen pixels of a bar and of a function's heading."""


def comparison_chart(
    scores: Mapping[str, Sequence[float]],
    weights: Mapping[str, Sequence[float]],
    keys: Sequence[str],
    *,
    headings: Mapping[str, str] | None = None,
    active: int | None = None,
    width: int = 520,
) -> alt.HConcatChart:
    """Draw one block per function, one bar per key: scores on the left, weights on the right.

    Args:
        scores: function -> one score per key.
        weights: function -> one weight per key.
        keys: names of the keys.
        headings: function -> text above its block; the function's name if None.
        active: a key to draw at full strength, the others paler; None = all alike.
        width: screen pixels of both panels together.

    Raises:
        ValueError: a function has not one number per key.
    """
    frame = comparison_frame(scores, weights, keys)
    frame["faded"] = False if active is None else frame["key"] != keys[active]
    names = list(scores)
    texts = headings or {name: name for name in names}
    heads = pd.DataFrame([{"slot": place * (len(keys) + 1), "text": texts[name]} for place, name in enumerate(names)])
    high = nice_limit(float(frame["score"].abs().max()))
    left, right = round(width * 0.54), round(width * 0.46) - 54
    height = BAR * len(names) * (len(keys) + 1)
    score_axis = alt.X("score:Q", title="score", scale=alt.Scale(domain=[-high, high]), axis=_axis())
    weight_axis = alt.X("weight:Q", title="weight", scale=alt.Scale(domain=[0, 1]), axis=_axis("%"))
    label = {"fontSize": 10, "dx": 3, "align": "left", "color": TEXT, "aria": False}
    left_panel = alt.layer(
        _bars(frame, keys, names, score_axis, ROLE_COLOURS[Role.SCORES], labelled=True),
        alt.Chart(heads)
        .mark_text(align="left", fontSize=11, fontWeight="bold", color=TEXT, aria=False)
        .encode(x=alt.value(0), y=_slots(keys, names, labelled=True), text="text:N"),
    )
    right_panel = alt.layer(
        _bars(frame, keys, names, weight_axis, ROLE_COLOURS[Role.WEIGHTS], labelled=False),
        alt.Chart(frame)
        .mark_text(**label)
        .encode(x="weight:Q", y=_slots(keys, names, labelled=False), text=alt.Text("weight:Q", format=".0%")),
    )
    return alt.hconcat(
        left_panel.properties(width=left, height=height),
        right_panel.properties(width=right, height=height),
        spacing=26,
        autosize=alt.AutoSizeParams(type="pad"),
    )


def comparison_frame(
    scores: Mapping[str, Sequence[float]], weights: Mapping[str, Sequence[float]], keys: Sequence[str]
) -> pd.DataFrame:
    """Return one row per function and key: function, key, slot (its line in the chart), score, weight."""
    rows = []
    for place, name in enumerate(scores):
        if not len(keys) == len(scores[name]) == len(weights[name]):
            raise ValueError(
                f"{name} needs {len(keys)} scores and weights, got {len(scores[name])} and {len(weights[name])}"
            )
        for number, key in enumerate(keys):
            slot = place * (len(keys) + 1) + 1 + number
            score, weight = float(scores[name][number]), float(weights[name][number])
            rows.append({"function": name, "key": key, "slot": slot, "score": score, "weight": weight})
    return pd.DataFrame(rows)


def nice_limit(largest: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, ... that is not below: a domain that seldom jumps while scores move."""
    if not np.isfinite(largest) or largest <= 1:
        return 1.0
    power = 10 ** math.floor(math.log10(largest))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= largest))


def _bars(frame, keys, names, x, colour, *, labelled):
    return (
        alt.Chart(frame)
        .mark_bar(color=colour, height=BAR - 4)
        .encode(
            x=x,
            y=_slots(keys, names, labelled=labelled),
            opacity=alt.condition("datum.faded", alt.value(0.5), alt.value(1)),
            tooltip=[
                "function:N",
                "key:N",
                alt.Tooltip("score:Q", format=".4f"),
                alt.Tooltip("weight:Q", format=".4f"),
            ],
        )
    )


def _slots(keys, names, *, labelled):
    """One line per bar and one per heading; a position on the axis, the key's name as its label."""
    per_name = ["", *keys]
    texts = json.dumps(per_name * len(names))
    axis = alt.Axis(
        labelExpr=f"{texts}[datum.value]",
        title=None,
        ticks=False,
        domain=False,
        labelFontSize=10,
        labelPadding=4,
        labelOverlap=False,
    )
    return alt.Y(
        "slot:O", scale=alt.Scale(domain=list(range(len(per_name) * len(names)))), axis=axis if labelled else None
    )


def _axis(text_format: str = "~r") -> alt.Axis:
    return alt.Axis(format=text_format, tickCount=4, grid=True)
