"""Bars: probabilities of classes, and any short list of signed or positive numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

SERIES = ("#1B6CA8", "#A9B4BF", "#D55E00", "#009E73")


def probability_bars(
    series: Mapping[str, Sequence[float]], labels: Sequence[str], *, height: int = 200, legend: bool = True
) -> alt.Chart:
    """Draw probabilities of the same classes by several models side by side.

    Args:
        series: name of a model -> its probabilities, one per label.
        labels: the classes.
        height: screen pixels.
        legend: whether the models are named above; a single one may go without.
    """
    frame = pd.DataFrame(
        [
            {"class": label, "position": place, "probability": float(value), "model": name, "order": order}
            for order, (name, values) in enumerate(series.items())
            for place, (label, value) in enumerate(zip(labels, values, strict=True))
        ]
    )
    names = list(series)
    return (
        alt.Chart(frame)
        .mark_bar(cornerRadiusEnd=1)
        .encode(
            x=alt.X("class:N", sort=list(labels), title=None, axis=alt.Axis(labelAngle=0, ticks=False)),
            y=alt.Y(
                "probability:Q",
                title=None,
                axis=alt.Axis(format="%", tickCount=3),
                scale=alt.Scale(domain=[0, 1]),
            ),
            xOffset=alt.XOffset("model:N", sort=names),
            color=alt.Color(
                "model:N",
                sort=names,
                scale=alt.Scale(domain=names, range=list(SERIES[: len(names)])),
                legend=alt.Legend(orient="top", title=None, labelLimit=260, offset=2) if legend else None,
            ),
            tooltip=[
                alt.Tooltip("model:N"),
                alt.Tooltip("class:N"),
                alt.Tooltip("probability:Q", format=".1%"),
            ],
        )
        .properties(height=height)
    )


def bars(values: Sequence[float], labels: Sequence[str], *, title: str, colour: str, height: int = 180) -> alt.Chart:
    """Draw one number per label as horizontal bars, in the order given.

    Args:
        values: numbers, signed or not.
        labels: one text per number.
        title: of the axis.
        colour: of the bars.
        height: screen pixels.
    """
    frame = pd.DataFrame({"label": list(labels), "position": range(len(labels)), "value": [float(v) for v in values]})
    return (
        alt.Chart(frame)
        .mark_bar(color=colour, cornerRadiusEnd=1)
        .encode(
            y=alt.Y("label:N", sort=list(labels), title=None, axis=alt.Axis(ticks=False, labelLimit=150)),
            x=alt.X("value:Q", title=title, axis=alt.Axis(tickCount=3, grid=True)),
            tooltip=[alt.Tooltip("label:N"), alt.Tooltip("value:Q", format=".4g", title=title)],
        )
        .properties(height=height)
    )
