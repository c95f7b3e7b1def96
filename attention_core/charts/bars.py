"""Bars: probabilities, short lists of numbers, tables; curves of whether a map explains an answer."""

from collections.abc import Mapping, Sequence

import altair as alt

from attention_core.attention.types import Role
from attention_core.charts.chart import Chart, LayerChart, per_structure
from attention_core.charts.columns import long_form
from attention_core.charts.layers import QUIET, label_expression, named, percent_axis, series_colour
from attention_core.charts.ramps import GREY, ROLE_COLOURS
from attention_core.faithfulness.attribution import Curve

SERIES = ("#1B6CA8", "#A9B4BF", "#D55E00", "#009E73")
BEFORE_AFTER = ("#A9B4BF", ROLE_COLOURS[Role.CONTEXT])


def probability_bars(
    series: Mapping[str, Sequence[float]],
    labels: Sequence[str],
    *,
    height: int = 200,
    angle: int = 0,
) -> Chart:
    """Draw probabilities of the same classes by several models side by side.

    Labels at an angle are all drawn, however close.
    """
    axis = alt.Axis(labelAngle=angle, labelOverlap=not angle, ticks=False)
    names, data = list(series), long_form(("model", "class", "probability"), series, labels)
    parts = {"names": names, "colours": list(SERIES[: len(names)]), "labels": list(labels)}
    return _probability_bars({"bars": data}, **parts, axis=axis, height=height)


@per_structure
def _probability_bars(
    names: list[str], colours: list[str], labels: list[str], axis: alt.Axis, height: int
) -> alt.Chart:
    tooltip = [alt.Tooltip("model:N"), alt.Tooltip("class:N"), alt.Tooltip("probability:Q", format=".1%")]
    encoded = (
        alt.X("class:N", sort=labels, title=None, axis=axis),
        percent_axis("probability"),
        alt.XOffset("model:N", sort=names),
        series_colour("model", names, colours, labelLimit=260, offset=2),
    )
    return named("bars", height=height).mark_bar(cornerRadiusEnd=1).encode(*encoded, tooltip=tooltip)


def bars(
    values: Sequence[float],
    labels: Sequence[str],
    *,
    title: str,
    colour: str,
    height: int = 180,
    label_limit: int = 150,
) -> Chart:
    """Draw one number per label as horizontal bars, in the order given; the title is that of the axis."""
    look = {"title": title, "colour": colour, "height": height, "label_limit": label_limit}
    return _bars({"bars": {"label": labels, "value": values}}, labels=list(labels), **look)


@per_structure
def _bars(labels: list[str], title: str, colour: str, height: int, label_limit: int) -> alt.Chart:
    y = alt.Y("label:N", sort=labels, title=None, axis=alt.Axis(ticks=False, labelLimit=label_limit))
    x = alt.X("value:Q", title=title, axis=alt.Axis(tickCount=3, grid=True))
    tooltip = [alt.Tooltip("label:N"), alt.Tooltip("value:Q", title=title, format=".4g")]
    marks = named("bars", height=height).mark_bar(color=colour, cornerRadiusEnd=1)
    return marks.encode(x, y, tooltip=tooltip)


def bar_table(
    names: Sequence[str], columns: Mapping[str, Sequence[float]], colours: Sequence[str], groups: Sequence[str] = ("",)
) -> Chart:
    """Draw a line per name with a bar in each column, on one scale; groups of such lines follow each other."""
    data = long_form(("column", "place", "number"), columns, list(range(len(names))) * len(groups))
    data["group"] = [group for _ in columns for group in groups for _ in names]
    parts = {"columns": list(columns), "colours": list(colours), "groups": list(groups)}
    return _bar_table({"bars": data}, said=label_expression(names), **parts)


@per_structure
def _bar_table(said: str, columns: list[str], colours: list[str], groups: list[str]) -> alt.Chart:
    axis = alt.Axis(labelExpr=said, ticks=False, labelOverlap=False)
    encoded = (
        alt.X("number:Q", title=None, axis=alt.Axis(tickCount=3)),
        alt.Y("place:O", title=None, axis=axis),
        alt.Column("column:N", title=None, sort=columns),
        alt.Row("group:N", title=None, sort=groups),
        alt.Color("column:N", scale=alt.Scale(domain=columns, range=colours), legend=None),
    )
    return named("bars", width=170).mark_bar(**QUIET).encode(*encoded)


COLOURS = (ROLE_COLOURS[Role.WEIGHTS], "#0072B2", "#E69F00", "#009E73", "#D55E00")

N_WORDS = 12  # whose weights are drawn


def curves_chart(curves: Mapping[str, Curve], what: str = "erased") -> LayerChart:
    """Draw what is left of the answer over the share of parts erased, or inserted; the last order is chance."""
    data = {
        "order": [name for name, curve in curves.items() for _ in curve.shares],
        what: [share for curve in curves.values() for share in curve.shares],
        "probability": [probability for curve in curves.values() for probability in curve.probability],
    }
    colours, height = [*COLOURS[: len(curves) - 1], GREY], 190 + 20 * len(curves)
    return _curves_chart({"curves": data}, names=list(curves), colours=colours, what=(what,), height=height)


@per_structure
def _curves_chart(names: list[str], colours: list[str], what: tuple[str], height: int) -> alt.LayerChart:
    (share,) = what
    encoded = (
        alt.X(f"{share}:Q", title=share, axis=alt.Axis(format="%", tickCount=5, grid=False)),
        percent_axis("probability", "what is left of the answer"),
        series_colour("order", names, colours, columns=1, labelLimit=260),
    )
    told = alt.Tooltip(f"{share}:Q", format=".0%"), alt.Tooltip("probability:Q", format=".1%")
    lines = named("curves").mark_line(strokeWidth=2.5).encode(*encoded, tooltip=[alt.Tooltip("order:N"), *told])
    return alt.LayerChart(layer=[lines], height=height)


def two_weights_chart(names: Sequence[str], own: Sequence[float], other: Sequence[float]) -> LayerChart:
    """Draw each word's weight, and below it that of other weights with the same answer; of many words the heaviest."""
    largest = sorted(sorted(range(len(names)), key=lambda place: -own[place])[:N_WORDS])
    labels = [f"{place + 1} {names[place]}" for place in largest]
    both = zip(("these weights", "others, same answer"), (own, other), strict=True)
    series = {name: [weights[place] for place in largest] for name, weights in both}
    data = long_form(("weights", "word", "weight"), series, labels)
    height = min(34 * len(labels) + 80, 440)
    return _two_weights_chart({"bars": data}, labels=labels, names=list(series), height=height)


@per_structure
def _two_weights_chart(labels: list[str], names: list[str], height: int) -> alt.LayerChart:
    encoded = (
        alt.Y("word:N", sort=labels, title=None, axis=alt.Axis(labelLimit=120)),
        alt.X("weight:Q", title="weight", axis=alt.Axis(format="%", tickCount=4, grid=False)),
        alt.YOffset("weights:N", sort=names),
        series_colour("weights", names, (COLOURS[0], GREY)),
    )
    tooltip = [alt.Tooltip("word:N"), alt.Tooltip("weights:N"), alt.Tooltip("weight:Q", format=".1%")]
    return alt.LayerChart(layer=[named("bars").mark_bar().encode(*encoded, tooltip=tooltip)], height=height)
