"""Bars: probabilities, short lists of numbers, tables; curves of whether a map explains an answer."""

from collections.abc import Mapping, Sequence

import altair as alt

from attention_core.attention.types import Role
from attention_core.charts.chart import Chart
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
    tooltip = [alt.Tooltip("model:N"), alt.Tooltip("class:N"), alt.Tooltip("probability:Q", format=".1%")]
    channels = (
        alt.X("class:N", sort=list(labels), title=None, axis=axis),
        percent_axis("probability"),
        alt.XOffset("model:N", sort=names),
        series_colour("model", names, SERIES[: len(names)], labelLimit=260, offset=2),
    )
    chart = named("bars", height=height).mark_bar(cornerRadiusEnd=1).encode(*channels, tooltip=tooltip)
    return Chart.of(chart, {"bars": data})


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
    y = alt.Y("label:N", sort=list(labels), title=None, axis=alt.Axis(ticks=False, labelLimit=label_limit))
    x = alt.X("value:Q", title=title, axis=alt.Axis(tickCount=3, grid=True))
    tooltip = [alt.Tooltip("label:N"), alt.Tooltip("value:Q", title=title, format=".4g")]
    marks = named("bars", height=height).mark_bar(color=colour, cornerRadiusEnd=1)
    return Chart.of(marks.encode(x, y, tooltip=tooltip), {"bars": {"label": labels, "value": values}})


def bar_table(
    names: Sequence[str], columns: Mapping[str, Sequence[float]], colours: Sequence[str], groups: Sequence[str] = ("",)
) -> Chart:
    """Draw a line per name with a bar in each column, on one scale; groups of such lines follow each other."""
    data = long_form(("column", "place", "number"), columns, list(range(len(names))) * len(groups))
    data["group"] = [group for _ in columns for group in groups for _ in names]
    axis = alt.Axis(labelExpr=label_expression(names), ticks=False, labelOverlap=False)
    colour_scale = alt.Scale(domain=list(columns), range=list(colours))
    channels = (
        alt.X("number:Q", title=None, axis=alt.Axis(tickCount=3)),
        alt.Y("place:O", title=None, axis=axis),
        alt.Column("column:N", title=None, sort=list(columns)),
        alt.Row("group:N", title=None, sort=list(groups)),
        alt.Color("column:N", scale=colour_scale, legend=None),
    )
    return Chart.of(named("bars", width=170).mark_bar(**QUIET).encode(*channels), {"bars": data})


COLOURS = (ROLE_COLOURS[Role.WEIGHTS], "#0072B2", "#E69F00", "#009E73", "#D55E00")

N_WORDS = 12  # whose weights are drawn


def curves_chart(curves: Mapping[str, Curve], change: str = "erased") -> Chart:
    """Draw what is left of the answer over the share of parts erased, or inserted; the last order is chance."""
    data = {
        "order": [name for name, curve in curves.items() for _ in curve.shares],
        change: [share for curve in curves.values() for share in curve.shares],
        "probability": [probability for curve in curves.values() for probability in curve.probability],
    }
    names, colours = list(curves), [*COLOURS[: len(curves) - 1], GREY]
    channels = (
        alt.X(f"{change}:Q", title=change, axis=alt.Axis(format="%", tickCount=5, grid=False)),
        percent_axis("probability", "what is left of the answer"),
        series_colour("order", names, colours, columns=1, labelLimit=260),
    )
    tooltip = [
        alt.Tooltip("order:N"),
        alt.Tooltip(f"{change}:Q", format=".0%"),
        alt.Tooltip("probability:Q", format=".1%"),
    ]
    lines = named("curves").mark_line(strokeWidth=2.5).encode(*channels, tooltip=tooltip)
    return Chart.of(alt.LayerChart(layer=[lines], height=190 + 20 * len(names)), {"curves": data})


def two_weights_chart(names: Sequence[str], weights: Sequence[float], rivals: Sequence[float]) -> Chart:
    """Draw each word's weight, and below it its rival with the same answer; of many words the heaviest."""
    heaviest = sorted(sorted(range(len(names)), key=lambda position: -weights[position])[:N_WORDS])
    labels = [f"{position + 1} {names[position]}" for position in heaviest]
    by_name = {"these weights": weights, "others, same answer": rivals}
    series = {name: [numbers[position] for position in heaviest] for name, numbers in by_name.items()}
    channels = (
        alt.Y("word:N", sort=labels, title=None, axis=alt.Axis(labelLimit=120)),
        alt.X("weight:Q", title="weight", axis=alt.Axis(format="%", tickCount=4, grid=False)),
        alt.YOffset("weights:N", sort=list(series)),
        series_colour("weights", list(series), (COLOURS[0], GREY)),
    )
    tooltip = [alt.Tooltip("word:N"), alt.Tooltip("weights:N"), alt.Tooltip("weight:Q", format=".1%")]
    lines = named("bars").mark_bar().encode(*channels, tooltip=tooltip)
    chart = alt.LayerChart(layer=[lines], height=min(34 * len(labels) + 80, 440))
    return Chart.of(chart, {"bars": long_form(("weights", "word", "weight"), series, labels)})
