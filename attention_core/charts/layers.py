"""Layers that many charts are put together from: pictures, texts, outlines, what the mouse meets, a colour bar."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from attention_core.charts.columns import Columns
from attention_core.charts.ramps import CHOSEN, FAINT, FONT_SIZE, Ramp, bar_ticks

Space = dict[str, Any]  # channels of Altair's by their names, such as alt.X("left:Q")
QUIET: dict[str, Any] = {"aria": False, "tooltip": None}
"""Style of a mark without a tooltip, which screen readers skip."""
EDGE: dict[str, Any] = {**QUIET, "fillOpacity": 0, "stroke": FAINT}
"""Style of the thin line around a picture."""
FILL, INK = alt.Color("fill:N", scale=None), alt.Color("ink:N", scale=None)  # colours that stand in the data
CORNERS: Space = {"x": alt.X("left:Q"), "x2": alt.X2("right"), "y": alt.Y("top:Q"), "y2": alt.Y2("bottom")}
"""Channels of rectangles that use the scales of another layer."""
MIDDLE: Space = {"x": CORNERS["x"], "y": CORNERS["y"]}
BAR_LOW, BAR_HIGH, BAR_EXPONENT = "data('bar')[0].number", "peek(data('bar')).number", "data('bar')[0].exponent"
"""Expressions of what a ramp's colours mean."""


def named(name: str, **properties: Any) -> alt.Chart:
    """Return a layer of the data of this name, without marks yet, or a chart with properties such as its height."""
    return alt.Chart(alt.NamedData(name), **properties)


def images(name: str, space: Space, column: str = "url", **style: Any) -> alt.Chart:
    """Return a layer of pictures with crisp pixels; a column of the data has their PNG bytes or data URLs."""
    style = {**QUIET, "smooth": False, "aspect": False, **style}
    return named(name).mark_image(**style).encode(**space, url=alt.Url(f"{column}:N"))


def texts(name: str, space: Space, column: str = "text", **style: Any) -> alt.Chart:
    """Return a layer of texts, a column of the data, at x and y of the space."""
    channels = {"x": space["x"], "y": space["y"], "text": alt.Text(f"{column}:N")}
    return named(name).mark_text(**{**QUIET, **style}).encode(**channels)


def outlined(name: str, space: Space, width: float, **style: Any) -> alt.Chart:
    """Return a layer of outlines of rectangles, in the colour of a selection."""
    return named(name).mark_rect(**QUIET, fillOpacity=0, stroke=CHOSEN, strokeWidth=width, **style).encode(**space)


def halo_outlines(
    name: str, space: Space, widths: tuple[float, float], colour: str = CHOSEN, kind: str = "rect", **style: Any
) -> list[alt.Chart]:
    """Return outlines with a white halo, so that they show on any background; widths of halo and outline."""
    style = {"type": kind, **QUIET, "fillOpacity": 0, **style}
    strokes = zip(("white", colour), widths, strict=True)
    marks = (alt.MarkDef(**style, stroke=stroke, strokeWidth=width) for stroke, width in strokes)
    return [named(name, mark=mark).encode(**space) for mark in marks]


def hover_cells(name: str, space: Space, *tooltip: alt.Tooltip, **style: Any) -> alt.Chart:
    """Return a layer of invisible rectangles that show a tooltip; to be put on top."""
    return named(name).mark_rect(**{"opacity": 0, "aria": False, **style}).encode(**space, tooltip=list(tooltip))


def clickable(chart: alt.Chart, select: str, *fields: str) -> alt.Chart:
    """Return the layer with a selection of this name, by its fields, that a click makes."""
    chosen = alt.selection_point(name=select, fields=list(fields), on="click", clear=False)
    return chart.properties(name=f"view_{select}").add_params(chosen)


def bar_data(ramp: Ramp) -> Columns:
    """Return the data "bar" of a colour bar: the numbers below it, and the exponent of the ramp.

    They are data because a browser builds a chart anew whose spec has changed.
    """
    numbers = np.array(bar_ticks(ramp))
    return {
        "number": numbers,
        "name": [ramp.reference_label if number == ramp.reference else "" for number in numbers],
        "sign": ["<=>"[int(np.sign(number)) + 1] if ramp.is_cut else "=" for number in numbers],
        "exponent": [ramp.exponent] * len(numbers),
    }


class Bar(NamedTuple):
    """A colour bar below a chart, whose numbers are the data "bar"."""

    colours: tuple[str, ...]
    is_linear: bool
    title: str
    length: int  # screen pixels

    @classmethod
    def of(cls, ramp: Ramp, title: str, length: int) -> Bar:
        return cls(ramp.colours, ramp.exponent == 1, title, length)


def ramp_colour(column: str, bar: Bar, *, style: Mapping[str, Any] | None = None, **options: Any) -> alt.Color:
    """Return the channel of the colours of numbers, with the colour bar, which may have a style of its own."""
    tick = "(data('bar')[indexof(pluck(data('bar'), 'number'), datum.value)] || {name: ' '})"
    label = f"{tick}.name || ({{'<': '≤ ', '>': '≥ '}}[{tick}.sign] || '') + format({tick}.number, '.3~g')"
    legend = alt.Legend(
        title=bar.title + ", not linear" * (not bar.is_linear) if bar.title else None,
        orient="bottom",
        direction="horizontal",
        gradientLength=bar.length,
        gradientThickness=8,
        labelFontSize=FONT_SIZE,
        titleFontSize=FONT_SIZE,
        titleFontWeight="normal",
        labelOverlap=False,
        offset=4,
        values=alt.ExprRef("pluck(data('bar'), 'number')"),
        **{"labelExpr": label, **(style or {})},
    )
    # Vega spreads many colours over two domain values evenly, after the power, as Ramp.position does.
    power: dict[str, Any] = {} if bar.is_linear else {"type": "pow", "exponent": alt.ExprRef(BAR_EXPONENT)}
    limits = [alt.ExprRef(BAR_LOW), alt.ExprRef(BAR_HIGH)]
    scale = alt.Scale(domain=limits, range=[*bar.colours], clamp=True, interpolate="rgb", **power)
    return alt.Color(column, scale=scale, legend=legend, **options)


def bar_layer(bar: Bar, **legend: Any) -> alt.Chart:
    """Return an invisible layer with a colour bar, for an image, whose colours Vega does not know."""
    return named("bar").mark_point(**QUIET, opacity=0, size=0).encode(ramp_colour("number:Q", bar, style=legend))


def exact_scale(low: float, high: float) -> alt.Scale:
    """Return a linear scale from low to high, not rounded to nice numbers."""
    return alt.Scale(domain=[low, high], nice=False)


def percent_axis(column: str, title: str | None = None) -> alt.Y:
    """Return the channel of a column of shares, from 0 to 1, with an axis in per cent."""
    axis = alt.Axis(format="%", tickCount=3)
    return alt.Y(f"{column}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=axis)


def series_colour(column: str, names: Sequence[str], colours: Sequence[str], **legend: Any) -> alt.Color:
    """Return one colour per name, in this order, with a legend without a title above the chart."""
    above = alt.Legend(title=None, **{"orient": "top", **legend})
    scale = alt.Scale(domain=list(names), range=list(colours))
    return alt.Color(f"{column}:N", sort=list(names), scale=scale, legend=above)


def label_expression(labels: Sequence[str], position: str = "datum.value", every: int | None = None) -> str:
    """Return the expression that labels positions from 0 by name, or only each every-th of them."""
    names = f"{json.dumps(list(labels))}[{position}]"
    return f"{position} % {every} == 0 ? {names} : ''" if every else names


def corners(width: float, height: float, **channels: Any) -> Space:
    """Return channels of rectangles without axes, (0, 0) at the top left; some may be replaced."""
    x = alt.X("left:Q", axis=None, scale=exact_scale(0, width))
    return {**CORNERS, "x": x, "y": alt.Y("top:Q", axis=None, scale=exact_scale(height, 0)), **channels}


def heading(text: str, **style: Any) -> alt.TitleParams:
    """Return a small title above the left end of a chart."""
    return alt.TitleParams(text=text, **{"anchor": "start", "fontSize": 12, "fontWeight": "normal", **style})


def fixed_size(layers: Sequence[alt.Chart], width: int, height: int, **properties: Any) -> alt.LayerChart:
    """Return layers in a plot of exactly this size, axes and colour bar not counted, so that cells stay square."""
    size: dict[str, Any] = {"width": width, "height": height, "autosize": alt.AutoSizeParams(type="pad")}
    return alt.LayerChart(layer=layers, **size, **properties)
