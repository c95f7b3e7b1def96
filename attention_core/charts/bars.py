"""Bars: probabilities, short lists of numbers, tables; curves of whether a map explains an answer."""

from collections.abc import Mapping, Sequence

from attention_core.attention.types import Role
from attention_core.charts import vega as vl
from attention_core.faithfulness.attribution import Curve

SERIES = ("#1B6CA8", "#A9B4BF", "#D55E00", "#009E73")
BEFORE_AFTER = ("#A9B4BF", vl.ROLE_COLOURS[Role.CONTEXT])


def probability_bars(
    series: Mapping[str, Sequence[float]],
    labels: Sequence[str],
    *,
    height: int = 200,
    angle: int = 0,
) -> vl.Chart:
    """Draw probabilities of the same classes by several models side by side.

    Labels at an angle are all drawn, however close.
    """
    names = list(series)
    colour = vl.series_colour("model", names, SERIES[: len(names)], labelLimit=260, offset=2)
    space = {
        "x": vl.field(
            "class:N", sort=list(labels), title=None, axis=dict(labelAngle=angle, labelOverlap=not angle, ticks=False)
        ),
        "y": vl.percent_axis("probability"),
        "xOffset": vl.field("model:N", sort=names),
        "color": colour,
    }
    tooltip = "model:N", "class:N", ("probability:Q", "", ".1%")
    data = vl.long_form(("model", "class", "probability"), series, labels)
    return vl.mark("bar", data, space, *tooltip, cornerRadiusEnd=1).properties(height=height)


def bars(
    values: Sequence[float],
    labels: Sequence[str],
    *,
    title: str,
    colour: str,
    height: int = 180,
    label_limit: int = 150,
) -> vl.Chart:
    """Draw one number per label as horizontal bars, in the order given; the title is that of the axis."""
    space = {
        "y": vl.field("label:N", sort=list(labels), title=None, axis=dict(ticks=False, labelLimit=label_limit)),
        "x": vl.field("value:Q", title=title, axis=dict(tickCount=3, grid=True)),
    }
    data, tooltip = {"label": labels, "value": values}, ("label:N", ("value:Q", title, ".4g"))
    return vl.mark("bar", data, space, *tooltip, color=colour, cornerRadiusEnd=1).properties(height=height)


def bar_table(
    names: Sequence[str], columns: Mapping[str, Sequence[float]], colours: Sequence[str], groups: Sequence[str] = ("",)
) -> vl.Chart:
    """Draw a line per name with a bar in each column, on one scale; groups of such lines follow each other."""
    data = vl.long_form(("column", "place", "number"), columns, list(range(len(names))) * len(groups))
    data["group"] = [group for _ in columns for group in groups for _ in names]
    axis = dict(labelExpr=vl.label_expression(names), ticks=False, labelOverlap=False)
    space = {
        "x": vl.field("number:Q", title=None, axis=dict(tickCount=3)),
        "y": vl.field("place:O", title=None, axis=axis),
        "column": vl.field("column:N", title=None, sort=list(columns)),
        "row": vl.field("group:N", title=None, sort=list(groups)),
        "color": vl.field("column:N", scale=vl.category_scale(list(columns), colours), legend=None),
    }
    return vl.mark("bar", data, space).properties(width=170)


COLOURS = (vl.ROLE_COLOURS[Role.WEIGHTS], "#0072B2", "#E69F00", "#009E73", "#D55E00")

N_WORDS = 12  # whose weights are drawn


def curves_chart(curves: Mapping[str, Curve], what: str = "erased") -> vl.Chart:
    """Draw what is left of the answer over the share of parts erased, or inserted; the last order is chance."""
    colours = (*COLOURS[: len(curves) - 1], vl.GREY)
    data = {
        "order": [name for name, curve in curves.items() for _ in curve.shares],
        what: [share for curve in curves.values() for share in curve.shares],
        "probability": [probability for curve in curves.values() for probability in curve.probability],
    }
    space = {
        "x": vl.field(f"{what}:Q", title=what, axis=dict(format="%", tickCount=5, grid=False)),
        "y": vl.percent_axis("probability", "what is left of the answer"),
        "color": vl.series_colour("order", list(curves), colours, columns=1, labelLimit=260),
    }
    tooltip = "order:N", (f"{what}:Q", "", ".0%"), ("probability:Q", "", ".1%")
    return vl.layer(vl.mark("line", data, space, *tooltip, strokeWidth=2.5), height=190 + 20 * len(curves))


def two_weights_chart(names: Sequence[str], own: Sequence[float], other: Sequence[float]) -> vl.Chart:
    """Draw each word's weight, and below it that of other weights with the same answer; of many words the heaviest."""
    largest = sorted(sorted(range(len(names)), key=lambda place: -own[place])[:N_WORDS])
    labels = [f"{place + 1} {names[place]}" for place in largest]
    both = zip(("these weights", "others, same answer"), (own, other), strict=True)
    series = {name: [weights[place] for place in largest] for name, weights in both}
    data = vl.long_form(("weights", "word", "weight"), series, labels)
    space = {
        "y": vl.field("word:N", sort=labels, title=None, axis=dict(labelLimit=120)),
        "x": vl.field("weight:Q", title="weight", axis=dict(format="%", tickCount=4, grid=False)),
        "yOffset": vl.field("weights:N", sort=list(series)),
        "color": vl.series_colour("weights", list(series), (COLOURS[0], vl.GREY)),
    }
    bars = vl.mark("bar", data, space, "word:N", "weights:N", ("weight:Q", "", ".1%"))
    return vl.layer(bars, height=min(34 * len(labels) + 80, 440))
