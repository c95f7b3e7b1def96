"""Near words and their weights: in one place of one sentence, and on average in sentences of their own."""

from collections.abc import Sequence

from attention_core.attention.types import Role
from attention_core.charts.design import GREY, ROLE_COLOURS, Chart, alt, mark, rule_at, series_colour
from attention_core.topics.matter.word_space import Neighbour

HERE, USUAL = "in this place of your sentence", "mean and spread in its own sentences"
IS_KNOWN = "isValid(datum.mean)"


def neighbours_chart(neighbours: Sequence[Neighbour]) -> Chart:
    """Draw a line per word, the word itself first: a mark for its weight in place, a dot with a bar for the usual."""
    words, usual = [one.word for one in neighbours], [one.usual for one in neighbours]
    data = {
        "word": words,
        "cosine": [one.cosine for one in neighbours],
        "here": [one.here for one in neighbours],
        "mean": [one and one.mean for one in usual],
        "low": [one and max(0.0, one.mean - one.spread) for one in usual],
        "high": [one and one.mean + one.spread for one in usual],
        "n": [one and one.n for one in usual],
    }
    axis = alt.Axis(ticks=False, domain=False, labelLimit=130, labelFontSize=12, labelOverlap=False)
    line = {"y": alt.Y("word:N", sort=words, title=None, axis=axis)}
    told = (
        "word:N",
        ("cosine:Q", "cosine to the chosen word", ".2f"),
        ("here:Q", "times 1/n, in this place", ".2f"),
        ("mean:Q", "times 1/n, usually", ".2f"),
        ("n:Q", "occurrences in training", ",d"),
    )
    colours = ROLE_COLOURS[Role.WEIGHTS], GREY
    colour = series_colour("kind", (HERE, USUAL), colours, labelLimit=320, direction="vertical")
    x = alt.X("here:Q", title="weight, as a multiple of the even share 1/n", axis=alt.Axis(tickCount=6, grid=True))
    spread = {**line, "x": alt.X("low:Q"), "x2": alt.X2("high:Q")}
    dots = {"color": colour, "filled": True, "opacity": 1}
    rules = mark("rule", data, spread, *told, strokeWidth=3, color=GREY, opacity=0.55)
    means = mark("point", data, {**line, "x": alt.X("mean:Q")}, *told, size=55, **dots)
    here = mark("point", data, {**line, "x": x}, *told, size=120, shape="diamond", **dots)
    return alt.layer(
        rule_at("x", "even", 1.0, strokeDash=[4, 3], color=GREY, aria=alt.Undefined),
        rules.transform_filter(IS_KNOWN),
        means.transform_filter(IS_KNOWN).transform_calculate(kind=f"'{USUAL}'"),
        here.transform_calculate(kind=f"'{HERE}'"),
        height=26 * len(words) + 100,  # legend and axis are inside this height
    )
