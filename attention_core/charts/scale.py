"""How values become colours and places: ramps, series and their legends; ends of axes, names at them, rules on them."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_core.charts.design import Channel, Chart, Spec, alt
from attention_core.charts.marks import mark
from attention_core.charts.palette import DARK, MASKED, Ramp


def colour_scale(ramp: Ramp) -> Spec:
    """Return the scale that paints as the ramp does."""
    power = {} if ramp.exponent == 1 else {"type": "pow", "exponent": ramp.exponent}
    # Vega spreads many colours over two domain values evenly, after the power, as Ramp.position does.
    return alt.Scale(domain=[ramp.low, ramp.high], range=list(ramp.colours), clamp=True, interpolate="rgb", **power)


def series_colour(field: str, names: Sequence[str], colours: Sequence[str], **legend: Any) -> Channel:
    """Return one colour per name, in this order, with a legend without a title above the chart."""
    above = alt.Legend(title=None, **{"orient": "top", **legend})
    return alt.Color(f"{field}:N", sort=list(names), scale=one_each(names, colours), legend=above)


def wrapping(names: Sequence[str]) -> dict[str, str]:
    """Return the columns of a legend whose names stand below one another where the chart is too narrow for a row."""
    return {"expr": f"width < {sum(7 * len(name) + 24 for name in names)} ? 1 : 0"}


def one_each(names: Sequence[str], looks: Sequence[Any]) -> Spec:
    """Return the scale that gives each name its own colour, shape or dashes."""
    return alt.Scale(domain=list(names), range=list(looks))


def is_dark(colours: np.ndarray) -> np.ndarray:
    """Say which colours, RGB (..., 3), need white numbers on them: whose contrast with white is 4.5 (WCAG 2.2)."""
    share = colours / 255
    light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return light @ np.array([0.2126, 0.7152, 0.0722]) < 1.05 / 4.5 - 0.05


def painted(values: np.ndarray, ramp: Ramp) -> tuple[np.ndarray, np.ndarray]:
    """Return the colour of each cell, and the colour in which its number shows on it; grey where not finite."""
    finite, colours = np.isfinite(values), ramp.lookup(64)
    place = (ramp.position(values) * 63).astype(int)
    names = np.array([f"#{r:02x}{g:02x}{b:02x}" for r, g, b in colours], dtype=object)
    ink = np.where(is_dark(colours)[place] & finite, "#ffffff", DARK)
    return np.where(finite, names[place], MASKED), ink


def colour_bar(ramp: Ramp, title: str, length: int, **own: Any) -> Spec:
    """Return a horizontal colour bar below the chart, with the ramp's reference value marked by name."""
    ticks = [ramp.low, ramp.high]
    label = "format(datum.value, '.3~g')"
    if ramp.is_cut:
        label = f"(datum.value > 0 ? '≥ ' : datum.value < 0 ? '≤ ' : '') + {label}"
    if ramp.reference is not None and ramp.low < ramp.reference < ramp.high and _has_room(ramp, ramp.reference):
        ticks.insert(1, ramp.reference)
        close = abs(ramp.high - ramp.reference) / 1e6
        label = f"abs(datum.value - {ramp.reference!r}) < {close!r} ? '{ramp.reference_label}' : {label}"
    elif ramp.low < 0 < ramp.high:
        ticks.insert(1, 0.0)
    look: Spec = {
        "title": title or None,
        "orient": "bottom",
        "direction": "horizontal",
        "gradientLength": length,
        "gradientThickness": 8,
        "values": ticks,
        "labelExpr": label,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelOverlap": False,
        "offset": 4,
    }
    return look | own


def _has_room(ramp: Ramp, reference: float) -> bool:
    return float(ramp.position(np.array([reference]))[0]) < 0.85


def colour_bar_layer(ramp: Ramp, title: str, length: int, **own: Any) -> Chart:
    """Return an invisible layer that carries the colour bar of an image, which has no colours of its own to Vega."""
    ends = {"value": [ramp.low, ramp.high]}
    colour = alt.Color("value:Q", scale=colour_scale(ramp), legend=colour_bar(ramp, title, length, **own))
    return mark("point", ends, {"color": colour}, opacity=0, size=0)


def from_to(low: float, high: float, **more: Any) -> Spec:
    """Return the scale that begins and ends exactly there."""
    return alt.Scale(domain=[low, high], nice=False, **more)


def shares(field: str, title: Any = None, ticks: int = 3) -> Channel:
    """Return the vertical axis of shares from 0 to 1, in per cent."""
    axis = alt.Axis(format="%", tickCount=ticks)
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=axis)


def names_at(labels: Sequence[str], place: str = "datum.value", every: int | None = None) -> str:
    """Return the expression that puts the labels, or every so many of them, in the place of positions from 0."""
    names = f"{json.dumps(list(labels))}[{place}]"
    return f"{place} % {every} == 0 ? {names} : ''" if every else names


def rule_at(axis: str, field: str, value: float, **style: Any) -> Chart:
    """Return a line across the plot where a field on the axis, x or y, has this value."""
    return mark("rule", {field: [value]}, {axis: alt.X(f"{field}:Q")}, **style)
