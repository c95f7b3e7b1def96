"""Bars: probabilities of classes, and any short list of signed or positive numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attention_core.attention.types import Role
from attention_core.charts.design import Design, alt
from attention_core.charts.marks import tips
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.charts.scale import series_colour, shares

SERIES = ("#1B6CA8", "#A9B4BF", "#D55E00", "#009E73")


def probability_bars(
    series: Mapping[str, Sequence[float]], labels: Sequence[str], *, height: int = 200, legend: bool = True
) -> Design:
    """Draw probabilities of the same classes by several models side by side.

    Args:
        series: name of a model -> its probabilities, one per label.
        labels: the classes.
        height: screen pixels.
        legend: whether the models are named above; a single one may go without.
    """
    names, n = list(series), len(labels)
    frame = {
        "class": list(labels) * len(names),
        "probability": [float(value) for name in names for value, _ in zip(series[name], labels, strict=True)],
        "model": [name for name in names for _ in range(n)],
    }
    colour = series_colour("model", names, SERIES[: len(names)], labelLimit=260, offset=2)
    marks = alt.Chart(frame, height=height).mark_bar(cornerRadiusEnd=1)
    return marks.encode(
        x=alt.X("class:N", sort=list(labels), title=None, axis=alt.Axis(labelAngle=0, ticks=False)),
        y=shares("probability"),
        xOffset=alt.XOffset("model:N", sort=names),
        color=colour if legend else colour.legend(None),
        tooltip=tips("model:N", "class:N", ("probability:Q", "", ".1%")),
    )


def bars(values: Sequence[float], labels: Sequence[str], *, title: str, colour: str, height: int = 180) -> Design:
    """Draw one number per label as horizontal bars, in the order given.

    Args:
        values: numbers, signed or not.
        labels: one text per number.
        title: of the axis.
        colour: of the bars.
        height: screen pixels.
    """
    frame = {"label": list(labels), "value": [float(value) for value in values]}
    marks = alt.Chart(frame, height=height).mark_bar(color=colour, cornerRadiusEnd=1)
    return marks.encode(
        y=alt.Y("label:N", sort=list(labels), title=None, axis=alt.Axis(ticks=False, labelLimit=150)),
        x=alt.X("value:Q", title=title, axis=alt.Axis(tickCount=3, grid=True)),
        tooltip=tips("label:N", ("value:Q", title, ".4g")),
    )


def before_after_bars(
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    fields: tuple[str, str] = ("label", "when"),
    decimals: int = 1,
) -> Design:
    """Return bars of probabilities before and after a change, for a chart to lay along an axis of places.

    A series is what before or after is called -> its probabilities, one per label. The mouse is told both under the
    names of the fields, and percentages with so many decimals.
    """
    label, when = fields
    n, names = len(labels), list(series)
    frame = {
        "place": list(range(n)) * len(names),
        label: list(labels) * len(names),
        when: [name for name in names for _ in range(n)],
        "probability": [float(value) for name in names for value, _ in zip(series[name], labels, strict=True)],
    }
    return (
        alt.Chart(frame)
        .mark_bar(cornerRadiusEnd=1)
        .encode(
            color=series_colour(when, names, ("#A9B4BF", ROLE_COLOURS[Role.CONTEXT]), offset=2),
            tooltip=tips(f"{label}:N", f"{when}:N", ("probability:Q", "", f".{decimals}%")),
        )
    )
