"""Near words and their weights: in one place of one sentence, and on average in sentences of their own."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.topics.matter.word_space import Neighbour

HERE, USUAL = "in this place of your sentence", "mean and spread in its own sentences"
GREY = "#8A93A0"


def neighbours_chart(neighbours: Sequence[Neighbour], *, height_per_word: int = 26) -> alt.LayerChart:
    """Draw one line per word: a mark for its weight in place, a dot with a bar for its usual weight.

    Args:
        neighbours: the word itself first, then the near ones.
        height_per_word: screen pixels.
    """
    frame = pd.DataFrame(
        [
            {
                "place": place,
                "word": one.word,
                "cosine": one.cosine,
                "here": one.here,
                "mean": one.usual.mean if one.usual else None,
                "low": max(0.0, one.usual.mean - one.usual.spread) if one.usual else None,
                "high": one.usual.mean + one.usual.spread if one.usual else None,
                "n": one.usual.n if one.usual else None,
            }
            for place, one in enumerate(neighbours)
        ]
    )
    y = alt.Y(
        "word:N",
        sort=[one.word for one in neighbours],
        title=None,
        axis=alt.Axis(ticks=False, domain=False, labelLimit=130, labelFontSize=12, labelOverlap=False),
    )
    kinds = alt.Scale(domain=[HERE, USUAL], range=[ROLE_COLOURS[Role.WEIGHTS], GREY])
    legend = alt.Legend(orient="top", title=None, labelLimit=320, direction="vertical")
    tooltip = [
        alt.Tooltip("word:N"),
        alt.Tooltip("cosine:Q", format=".2f", title="cosine to the chosen word"),
        alt.Tooltip("here:Q", format=".2f", title="times 1/n, in this place"),
        alt.Tooltip("mean:Q", format=".2f", title="times 1/n, usually"),
        alt.Tooltip("n:Q", format=",d", title="occurrences in training"),
    ]
    base = alt.Chart(frame).encode(y=y, tooltip=tooltip)
    x = alt.X("here:Q", title="weight, as a multiple of the even share 1/n", axis=alt.Axis(tickCount=6, grid=True))
    usual = base.transform_filter("isValid(datum.mean)")
    even = alt.Chart(pd.DataFrame({"even": [1.0]})).mark_rule(strokeDash=[4, 3], color=GREY).encode(x=alt.X("even:Q"))
    return alt.layer(
        even,
        usual.mark_rule(strokeWidth=3, color=GREY, opacity=0.55).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        usual.transform_calculate(kind=f"'{USUAL}'")
        .mark_point(filled=True, size=55, opacity=1)
        .encode(x=alt.X("mean:Q"), color=alt.Color("kind:N", scale=kinds, legend=legend)),
        base.transform_calculate(kind=f"'{HERE}'")
        .mark_point(filled=True, size=120, shape="diamond", opacity=1)
        .encode(x=x, color=alt.Color("kind:N", scale=kinds, legend=legend)),
    ).properties(height=height_per_word * len(frame) + 100)  # legend and axis are inside this height
