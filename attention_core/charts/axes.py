"""What the axes of charts share: exact ends, shares of one, names in the place of positions, rules across the plot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd


def from_to(low: float, high: float, **more: Any) -> alt.Scale:
    """Return the scale that begins and ends exactly there."""
    return alt.Scale(domain=[low, high], nice=False, **more)


def shares(field: str, title: Any = None, ticks: int = 3) -> alt.Y:
    """Return a field as percentages of 1, upwards."""
    axis = alt.Axis(format="%", tickCount=ticks)
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=axis)


def names_at(labels: Sequence[str], place: str = "datum.value", every: int | None = None) -> str:
    """Return the expression that puts the labels, or every so many of them, in the place of positions from 0."""
    names = f"{json.dumps(list(labels))}[{place}]"
    return f"{place} % {every} == 0 ? {names} : ''" if every else names


def rule_at(axis: str, field: str, value: float, **style: Any) -> alt.Chart:
    """Return a line across the plot where a field on the axis, x or y, has this value."""
    channel = alt.X if axis == "x" else alt.Y
    mark = alt.Chart(pd.DataFrame({field: [value]})).mark_rule(**{"aria": False, **style})
    return mark.encode(channel(f"{field}:Q"))
