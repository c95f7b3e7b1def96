"""Near words and their weights: in one place of one sentence, and on average in sentences of their own."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.design import Design, alt
from attention_core.charts.marks import tips
from attention_core.charts.palette import GREY, ROLE_COLOURS
from attention_core.charts.scale import one_each, rule_at
from attention_core.topics.matter.word_space import Neighbour

HERE, USUAL = "in this place of your sentence", "mean and spread in its own sentences"


def neighbours_chart(neighbours: Sequence[Neighbour], *, height_per_word: int = 26) -> Design:
    """Draw a line per word, the word itself first: a mark for its weight in place, a dot with a bar for the usual."""
    frame = pd.DataFrame(
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
    )
    axis = alt.Axis(ticks=False, domain=False, labelLimit=130, labelFontSize=12, labelOverlap=False)
    base = alt.Chart(frame).encode(
        y=alt.Y("word:N", sort=[neighbour.word for neighbour in neighbours], title=None, axis=axis),
        tooltip=tips(
            "word:N",
            ("cosine:Q", "cosine to the chosen word", ".2f"),
            ("here:Q", "times 1/n, in this place", ".2f"),
            ("mean:Q", "times 1/n, usually", ".2f"),
            ("n:Q", "occurrences in training", ",d"),
        ),
    )
    legend = alt.Legend(orient="top", title=None, labelLimit=320, direction="vertical")
    kinds = one_each([HERE, USUAL], [ROLE_COLOURS[Role.WEIGHTS], GREY])
    colour = alt.Color("kind:N", scale=kinds, legend=legend)
    known = base.transform_filter("isValid(datum.mean)")
    spread = known.mark_rule(strokeWidth=3, color=GREY, opacity=0.55)
    usual = known.transform_calculate(kind=f"'{USUAL}'").mark_point(filled=True, size=55, opacity=1)
    here = base.transform_calculate(kind=f"'{HERE}'").mark_point(filled=True, size=120, shape="diamond", opacity=1)
    x = alt.X("here:Q", title="weight, as a multiple of the even share 1/n", axis=alt.Axis(tickCount=6, grid=True))
    return alt.layer(
        rule_at("x", "even", 1.0, strokeDash=[4, 3], color=GREY, aria=alt.Undefined),
        spread.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        usual.encode(x=alt.X("mean:Q"), color=colour),
        here.encode(x=x, color=colour),
        height=height_per_word * len(frame) + 100,  # legend and axis are inside this height
    )
