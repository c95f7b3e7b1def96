"""Vega-Lite charts: colours, marks, scales and positions. Like Altair, without its slow checks; used as `vl`.

data = {"x": [1, 2], "y": [3, 4]}
chart = vl.mark("point", data, {"x": vl.field("x:Q", title="one", axis=dict(grid=False)), "y": vl.field("y:Q")})
spec, data = chart.spec_and_data()
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL.ImageColor import getcolor

from attention_core.attention.types import Role
from attention_core.files import atomic_write

ROLE_COLOURS = {
    Role.INPUT: "#6B7785",
    Role.QUERY: "#0072B2",
    Role.KEY: "#E69F00",
    Role.VALUE: "#009E73",
    Role.SCORES: "#56B4E9",
    Role.WEIGHTS: "#CC79A7",
    Role.CONTEXT: "#D55E00",
    Role.OUTPUT: "#6B7785",
}
CHOSEN = ROLE_COLOURS[Role.QUERY]  # of frames around what is selected

VIRIDIS = (
    "#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c",
    "#22a884", "#44bf70", "#7ad151", "#bddf26", "#fde725",
)  # fmt: skip
"""Sequential, for values from 0 upwards that are no weights. Source: van der Walt and Smith 2015."""
PINK = "#d13b9b"
"""The weights' own hue, so that they are never mistaken for ink; it stands out from light and from dark paper."""
PINKS = (f"{PINK}00", f"{PINK}d9")
"""Sequential, for weights: from the page's own paper, light or dark, to a pink on which its letters can be read."""
DOWN, UP = "#2f79ad", "#b4610e"
"""Below and above 0."""
BLUE_ORANGE = (f"{DOWN}d9", f"{DOWN}85", f"{DOWN}00", f"{UP}85", f"{UP}d9")
"""Diverging, for signed values: 0 is the page's own paper, light or dark, and letters can be read on both ends."""
INK_COLOURS = ("#ffffff", "#e3e5e8", "#b9bec5", "#858d98", "#515a66", "#1b1f24")
DARK_INK_COLOURS = ("#11151a", "#2c323a", "#525a65", "#828b97", "#b8bfc8", "#f4f6f8")
"""For pictures: paper to ink, in grey, so that ink is never mistaken for attention; on a light and on a dark page."""
GREY, FAINT = "#8a93a0", "#8a93a066"  # rules and small words; thin edges around pictures
TEXT_COLOUR, LABEL_COLOUR = "#7d8794", "#747b86"
"""Greys between a light and a dark page; ui/styles/readable.css makes words in them readable on both."""
DARK_COLOUR, MASKED_GREY = "#050607", "#9aa1aa"
"""DARK_COLOUR: numbers on bright cells and frames of selected ones. MASKED_GREY: cells without a value."""


@dataclass(frozen=True)
class Ramp:
    """A colour scale: how values become colours."""

    colours: tuple[str, ...]  # from the lowest to the highest value: "#rrggbb", or "#rrggbbaa" that lets paper through
    low: float
    high: float
    exponent: float = 1.0  # below 1 spreads small values: colour = ((value - low) / (high - low)) ** exponent
    reference: float | None = None  # a value to mark on the colour bar, such as the uniform weight
    reference_label: str = ""
    is_cut: bool = False  # whether values lie beyond the ends, which are then labelled ≤ and ≥

    def position(self, values: np.ndarray) -> np.ndarray:
        """Return where on the ramp the values lie, from 0 to 1; values beyond an end count as that end."""
        span = max(self.high - self.low, 1e-30)
        inside = np.clip(np.nan_to_num(values, nan=self.low), self.low, self.high)
        share = np.clip((inside - self.low) / span, 0, 1)
        return share**self.exponent

    def lookup(self, n: int = 256) -> np.ndarray:
        """Return n colours along the ramp, uint8 (n, 4), red, green, blue and opacity."""
        anchors = np.array([getcolor(colour, "RGBA") for colour in self.colours])
        where = np.linspace(0, len(anchors) - 1, n)
        channels = [np.interp(where, np.arange(len(anchors)), channel) for channel in anchors.T]
        return np.rint(np.stack(channels, 1)).astype(np.uint8)


def signed_ramp(values: np.ndarray) -> Ramp:
    """Return a diverging ramp, symmetric around 0, that ends at the 99.9th percentile of the absolute values."""
    finite = np.abs(values[np.isfinite(values)])
    high = float(np.quantile(finite, 0.999, method="higher")) if finite.size else 1.0
    return Ramp(BLUE_ORANGE, -(high or 1.0), high or 1.0, is_cut=bool((finite > high).any()))


def weights_ramp(n_keys: int, high: float = 1.0) -> Ramp:
    """Return the ramp of weights: sequential from 0, with the uniform weight 1/n marked.

    With many keys most weights are far below the largest; a root-like scale keeps the uniform weight visible.
    """
    uniform = 1 / max(n_keys, 1)
    high = max(high, 1.02 * uniform)
    ratio = uniform / high
    exponent = 1.0 if ratio > 0.12 else float(np.clip(np.log(0.3) / np.log(ratio), 0.25, 1))
    return Ramp(PINKS, 0.0, high, exponent, uniform, f"1/{n_keys}")


def ramp_for(role: Role, values: np.ndarray, n_keys: int) -> Ramp:
    """Return the ramp for a matrix of this role: weights and probabilities from 0, other values around 0."""
    if role == Role.WEIGHTS:
        return weights_ramp(n_keys, float(np.nanmax(values, initial=0.0)))
    if role == Role.OUTPUT and values.size and np.nanmin(values) >= 0:  # probabilities
        return Ramp(BLUE_ORANGE[2:], 0.0, float(np.nanmax(values)) or 1.0)
    return signed_ramp(values)


INK_RAMP, DARK_INK_RAMP = Ramp(INK_COLOURS, 0.0, 1.0), Ramp(DARK_INK_COLOURS, 0.0, 1.0)


def mix_with_white(colour: str, share: float) -> str:
    """Return a colour mixed with white: a share of 1 is the colour itself, 0 is white."""
    return "#" + "".join(f"{round(255 - share * (255 - int(colour[i : i + 2], 16))):02x}" for i in (1, 3, 5))


FONT_STYLE = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}  # screen pixels, as on the pages
THEME: dict[str, Any] = {
    "background": "#ffffff",
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",  # of one width; files embed the first
    "axis": {
        **FONT_STYLE,
        "labelColor": LABEL_COLOUR,
        "titleColor": LABEL_COLOUR,
        "gridColor": FAINT,
        "domain": False,
        "ticks": False,
    },
    "header": {"labelFontSize": 12, "titleFontSize": 12},
    "legend": {
        **FONT_STYLE,
        "labelFontSize": 14,
        "titleFontSize": 14,
        "labelColor": LABEL_COLOUR,
        "titleColor": LABEL_COLOUR,
        "labelLimit": 160,  # a longer name is cut
    },
    "title": {"color": DARK_COLOUR, "anchor": "start", "fontSize": 16},
    "view": {"stroke": "transparent"},
}


SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal", "T": "temporal"}
UNDEFINED = object()  # Vega-Lite's default; None would switch the property off

Spec = dict[str, Any]
Data = Mapping[str, Any]  # columns of equal length by their names; a data frame is one, too
Columns = dict[str, Any]  # Data made here: a dict is quicker than a data frame


class NamedData(Columns):
    """Data that expressions read by a name, one of each name in a chart."""

    def __init__(self, name: str, /, **columns: Any) -> None:
        super().__init__(columns)
        self.name = name


class Channel(Spec):
    """The spec of an encoding channel, such as x or color."""


def without_undefined(spec: Spec) -> Spec:
    return {name: value for name, value in spec.items() if value is not UNDEFINED}


def field(name: str = "", **named: Any) -> Channel:
    """Return a channel for a column of the data, with its type unless it is that of another channel: "row:Q", "end"."""
    name, _, kind = name.partition(":")
    return Channel(without_undefined({"field": name or UNDEFINED, "type": TYPES.get(kind, UNDEFINED), **named}))


def value(value: Any) -> Channel:
    return Channel(value=value)


def condition(test: str | Spec, then: Spec, otherwise: Spec) -> Channel:
    """Return the channel `then` where a test of the data, or a selection, holds, and `otherwise` elsewhere."""
    condition = {"test": test} if isinstance(test, str) else {"param": test["name"]}
    return Channel(condition={**condition, **then}, **otherwise)


def selection_point(name: str, **named: Any) -> Spec:
    return {"name": name, "select": {"type": "point", **without_undefined(named)}}


def layer(*layers: Chart, **properties: Any) -> Chart:
    """Return layers in one plot, the first one at the bottom."""
    return Chart({"layer": [one.spec for one in layers], **properties})


class Chart:
    """A chart, or one layer of a chart. PNG bytes in its data become data URLs in to_dict()."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec  # Vega-Lite's, with Data instead of references to them

    def properties(self, **named: Any) -> Chart:
        return Chart({**self.spec, **named})

    def encode(self, **channels: Any) -> Chart:
        return self.properties(encoding={**self.spec["encoding"], **channels})

    def add_params(self, *selections: Spec) -> Chart:
        return self.properties(params=[*self.spec.get("params", []), *selections])

    def spec_and_data(self, *, themed: bool = False) -> tuple[Spec, dict[str, Data]]:
        """Return the Vega-Lite spec, with THEME if it is for a file, and the data by the names that the spec uses."""
        data: dict[str, Data] = {}
        config = {"view": {"continuousWidth": 300, "continuousHeight": 300}, **(THEME if themed else {})}
        spec = {**_to_json(self.spec, data), "$schema": SCHEMA, "config": config}
        params = []
        for number, layer in enumerate(_layers(spec)):
            if "params" in layer:  # Vega-Lite wants selections at the top, with the views in which they listen
                layer["name"] = f"view_{number}"
                params += [{**one, "views": [layer["name"]]} for one in layer.pop("params")]
        return {**spec, "params": params} if params else spec, data

    def to_dict(self, *, themed: bool = False) -> Spec:
        spec, data = self.spec_and_data(themed=themed)
        return spec | {"datasets": {name: _records(columns) for name, columns in data.items()}}

    def to_altair(self) -> Any:
        import altair

        return (altair.LayerChart if "layer" in self.spec else altair.Chart).from_dict(self.to_dict())

    def save(self, path: str | Path, *, title: str = "", width: float | None = None) -> None:
        """Write the chart into a file, whose ending says whether it is an SVG, a PDF or a PNG; see figure.figure()."""
        from attention_core.charts.figure import figure

        content = figure(self, Path(path).suffix.removeprefix(".").lower(), title=title, width=width)
        with atomic_write(Path(path)) as place:
            place.write_bytes(content)

    def _repr_mimebundle_(self, *given: Any, **named: Any) -> Any:
        return self.to_altair()._repr_mimebundle_(*given, **named)


def _to_json(node: Any, data: dict[str, Data]) -> Any:
    """Return a copy for JSON: plain numbers and lists, data URLs for pictures, and names instead of data."""
    if isinstance(node, dict):
        return {
            name: _data_reference(one, data) if name == "data" else _to_json(one, data) for name, one in node.items()
        }
    if isinstance(node, list | tuple):
        return [_to_json(one, data) for one in node]
    if isinstance(node, bytes):
        return data_url(node)
    return node.tolist() if isinstance(node, np.ndarray | np.generic) else node


def _data_reference(columns: Data, data: dict[str, Data]) -> Spec:
    # Vega calls its own data data_0, data_1 ...
    name = next((name for name, known in data.items() if known is columns), f"columns_{len(data)}")
    name = columns.name if isinstance(columns, NamedData) else name
    data[name] = columns
    return {"name": name}


def data_url(content: bytes) -> str:
    """Return a PNG file as a data URL."""
    return "data:image/png;base64," + base64.b64encode(content).decode()


def _layers(spec: Spec) -> Iterator[Spec]:
    for layer in spec.get("layer", []):
        yield layer
        yield from _layers(layer)


def _records(columns: Data) -> list[Spec]:
    """Return data as a list of rows for JSON: None where a number is missing."""
    lists = [np.asarray(columns[name], dtype=object).tolist() for name in columns]
    lists = [[*map(data_url, one)] if one and isinstance(one[0], bytes) else one for one in lists]
    rows = zip(*lists, strict=True)
    return [{name: None if value != value else value for name, value in zip(columns, row, strict=True)} for row in rows]


NO_TOOLTIP: dict[str, Any] = {"aria": False, "tooltip": None}
"""Style of a mark without a tooltip, which screen readers skip."""
EDGE: dict[str, Any] = {"fillOpacity": 0, "stroke": FAINT, "aria": False}  # style of the thin line around a picture
FILL, INK = field("fill:N", scale=None), field("ink:N", scale=None)  # colours that stand in the data
TooltipField = Sequence[str]  # a line of a tooltip: "field:Q", or (field, title, format), "" = none


def mark(kind: str, data: Data, channels: Mapping[str, Any], *tooltip: TooltipField, **style: Any) -> Chart:
    """Return a layer of marks, such as "rect" or "line".

    A style that is a Channel, such as FILL, becomes an encoding. Without a tooltip screen readers skip the marks.
    """
    encoded: Spec = {name: value for name, value in style.items() if isinstance(value, Channel)}
    look = {**({} if tooltip else NO_TOOLTIP), **{name: value for name, value in style.items() if name not in encoded}}
    if tooltip:
        encoded["tooltip"] = tooltip_channels(*tooltip)
    return Chart({"data": data, "mark": {"type": kind, **without_undefined(look)}, "encoding": {**channels, **encoded}})


def images(data: Data, space: Mapping[str, Any], column: str = "url", **style: Any) -> Chart:
    """Return a layer of pictures with crisp pixels; a column of the data has their PNG bytes or data URLs."""
    return mark("image", data, {**space, "url": field(f"{column}:N")}, **{"smooth": False, "aspect": False, **style})


def texts(data: Data, space: Mapping[str, Any], column: str = "text", **style: Any) -> Chart:
    """Return a layer of texts, a column of the data, at x and y of the space."""
    return mark("text", data, {"x": space["x"], "y": space["y"], "text": field(f"{column}:N")}, **style)


def text_at(text: str, left: float, top: float, space: Mapping[str, Any], **style: Any) -> Chart:
    """Return a layer of one text, at numbers on the axes of the space."""
    return texts({"left": [left], "top": [top], "text": [text]}, space, **style)


def outlined(data: Data, space: Mapping[str, Any], width: float, colour: Any = CHOSEN, **style: Any) -> Chart:
    """Return a layer of outlines of rectangles, in the colour of a selection by default."""
    return mark("rect", data, space, fillOpacity=0, stroke=colour, strokeWidth=width, **style)


def halo_outlines(
    data: Data, space: Mapping[str, Any], widths: tuple[float, float], colour: Any = CHOSEN, kind="rect", **style: Any
) -> list[Chart]:
    """Return outlines with a white halo, so that they show on any background; widths of halo and outline."""
    strokes = zip(("white", colour), widths, strict=True)
    return [mark(kind, data, space, fillOpacity=0, stroke=one, strokeWidth=wide, **style) for one, wide in strokes]


def tooltip_channels(*lines: TooltipField) -> list[Channel]:
    parts = ([line] if isinstance(line, str) else line for line in lines)
    return [
        field(name, **{key: one for key, one in zip(("title", "format"), more, strict=False) if one})
        for name, *more in parts
    ]


def hover_cells(data: Data, space: Mapping[str, Any], *tooltip: TooltipField, **style: Any) -> Chart:
    """Return a layer of invisible rectangles that show a tooltip; to be put on top."""
    return mark("rect", data, space, *tooltip, **{"opacity": 0, "aria": False, **style})


def clickable(chart: Chart, select: str | None, *fields: str) -> Chart:
    """Return the chart with a selection of this name, by its fields, that a click makes; unchanged without a name."""
    if not select:
        return chart
    return chart.add_params(selection_point(name=select, fields=list(fields), on="click", clear=False))


def pointer_style(select: str | None) -> dict[str, Any]:
    """Return the style of marks with a hand as cursor if they can be selected."""
    return {"cursor": "pointer" if select else "default", "aria": False}


def long_form(
    fields: tuple[str, str, str], series: Mapping[str, Any], at: Sequence[Any] | None = None, **more: Any
) -> Columns:
    """Return one row per series and place, without those whose number is None.

    The fields are the names of the columns of series, places and numbers. Places are 0, 1, 2 ... if none are given;
    more are columns of what else is known of each place.
    """
    rows = [
        (name, place, float(number), *(column[i] for column in more.values()))
        for name, numbers in series.items()
        for i, (place, number) in enumerate(zip(range(len(numbers)) if at is None else at, numbers, strict=True))
        if number is not None
    ]
    return {field: [row[i] for row in rows] for i, field in enumerate((*fields, *more))}


def colour_scale(ramp: Ramp) -> Spec:
    """Return the ramp as a scale of Vega-Lite: what colour a number has."""
    power = {} if ramp.exponent == 1 else {"type": "pow", "exponent": ramp.exponent}
    # Vega spreads many colours over two domain values evenly, after the power, as Ramp.position does.
    return dict(domain=[ramp.low, ramp.high], range=list(ramp.colours), clamp=True, interpolate="rgb", **power)


def series_colour(column: str, names: Sequence[str], colours: Sequence[str], **legend: Any) -> Channel:
    """Return one colour per name, in this order, with a legend without a title above the chart."""
    above = dict(title=None, **{"orient": "top", **legend})
    return field(f"{column}:N", sort=list(names), scale=category_scale(names, colours), legend=above)


def category_scale(names: Sequence[str], looks: Sequence[Any]) -> Spec:
    """Return the scale that gives each name its own colour, shape or dashes."""
    return dict(domain=list(names), range=list(looks))


def is_dark(colours: np.ndarray) -> np.ndarray:
    """Return which colours, RGB (..., 3), have a contrast with white of 4.5 or more (WCAG 2.2)."""
    share = colours / 255
    light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return light @ np.array([0.2126, 0.7152, 0.0722]) < 1.05 / 4.5 - 0.05


def colour_bar(ramp: Ramp, title: str, length: int, **own: Any) -> Spec:
    """Return a horizontal colour bar below the chart, with the ramp's reference value marked by name."""
    ticks = [ramp.low, ramp.high]
    label = "format(datum.value, '.3~g')"
    if ramp.is_cut:
        label = f"(datum.value > 0 ? '≥ ' : datum.value < 0 ? '≤ ' : '') + {label}"
    reference = np.nan if ramp.reference is None else ramp.reference
    if ramp.low < reference < ramp.high and ramp.position(np.array([reference]))[0] < 0.85:  # else the names overlap
        ticks.insert(1, reference)
        close = abs(ramp.high - reference) / 1e6
        label = f"abs(datum.value - {reference!r}) < {close!r} ? '{ramp.reference_label}' : {label}"
    elif ramp.low < 0 < ramp.high:
        ticks.insert(1, 0.0)
    look: Spec = {
        "title": title + ", not linear" * (ramp.exponent != 1) if title else None,
        "orient": "bottom",
        "direction": "horizontal",
        "gradientLength": length,
        "gradientThickness": 8,
        "values": ticks,
        "labelExpr": label,
        **FONT_STYLE,
        "labelOverlap": False,
        "offset": 4,
    }
    return look | own


def colour_bar_layer(ramp: Ramp, title: str, length: int, **own: Any) -> Chart:
    """Return an invisible layer with a colour bar, for an image, whose colours Vega does not know.

    Its numbers are data, on a scale from 0 to 1: a browser builds a chart anew whose spec has changed.
    """
    legend = colour_bar(ramp, title, length)
    numbers = np.array(legend["values"])
    ticks = NamedData(
        "bar",
        share=(numbers - ramp.low) / ((ramp.high - ramp.low) or 1),
        number=numbers,
        name=[ramp.reference_label if number == ramp.reference else "" for number in numbers],
        sign=["<=>"[int(np.sign(number)) + 1] if ramp.is_cut else "=" for number in numbers],
    )
    tick = "(data('bar')[indexof(pluck(data('bar'), 'share'), datum.value)] || {name: ' '})"
    label = f"{tick}.name || ({{'<': '≤ ', '>': '≥ '}}[{tick}.sign] || '') + format({tick}.number, '.3~g')"
    legend |= {"values": {"expr": "pluck(data('bar'), 'share')"}, "labelExpr": label}
    scale = colour_scale(replace(ramp, low=0.0, high=1.0))
    return mark("point", ticks, {"color": field("share:Q", scale=scale, legend=legend | own)}, opacity=0, size=0)


def exact_scale(low: float, high: float, **more: Any) -> Spec:
    """Return a linear scale from low to high, not rounded to nice numbers."""
    return dict(domain=[low, high], nice=False, **more)


def percent_axis(column: str, title: Any = None, ticks: int = 3) -> Channel:
    """Return the channel of a column of shares, from 0 to 1, with an axis in per cent."""
    axis = dict(format="%", tickCount=ticks)
    return field(f"{column}:Q", title=title, scale=dict(domain=[0, 1]), axis=axis)


def label_expression(labels: Sequence[str], place: str = "datum.value", every: int | None = None) -> str:
    """Return the expression that labels positions from 0 by name, or only each every-th of them."""
    names = f"{json.dumps(list(labels))}[{place}]"
    return f"{place} % {every} == 0 ? {names} : ''" if every else names


CORNERS = {"x": field("left:Q"), "x2": field("right"), "y": field("top:Q"), "y2": field("bottom")}
"""Channels of rectangles that use the scales of another layer."""


def fixed_size(layers: Sequence[Chart], width: int, height: int, **properties: Any) -> Chart:
    """Return layers in a plot of exactly this size, axes and colour bar not counted, so that cells stay square."""
    return layer(*layers, width=width, height=height, autosize={"type": "pad"}, **properties)


def corners(width: float, height: float, **own: Any) -> dict[str, Any]:
    """Return channels of rectangles without axes, (0, 0) at the top left; `own` replaces some of them."""
    x = field("left:Q", axis=None, scale=exact_scale(0, width))
    return {**CORNERS, "x": x, "y": field("top:Q", axis=None, scale=exact_scale(height, 0)), **own}


def rectangles(left: Any, top: Any, width: Any = 1, height: Any = 1, **columns: Any) -> Columns:
    """Return columns left, right, top, bottom and further ones; one number or text counts for all rectangles."""
    left, top, width, height = np.broadcast_arrays(*map(np.atleast_1d, (left, top, width, height)))
    known = {name: [one] * len(left) if np.isscalar(one) else one for name, one in columns.items()}
    return {"left": left, "right": left + width, "top": top, "bottom": top + height, **known}


def cell_columns(matrix: np.ndarray, row_labels: Sequence[str], col_labels: Sequence[str]) -> Columns:
    """Return one row per cell: row, col (positions), row_label, col_label, value (NaN where masked), masked."""
    rows, cols = np.indices(matrix.shape).reshape(2, -1)
    there = np.isfinite(matrix).ravel()
    return {
        "row": rows,
        "col": cols,
        "row_label": np.asarray(row_labels, dtype=object)[rows],
        "col_label": np.asarray(col_labels, dtype=object)[cols],
        "value": np.where(there, matrix.ravel(), np.nan).astype(float),
        "masked": ~there,
    }


def grid_layout(n: int, columns: int, width: int, height: int, gap: int, head: int) -> tuple[Columns, int, int]:
    """Return number and corners of n pictures of one size in a grid, and the width and height of the grid.

    There are gaps between the pictures, and room of height `head` above each.
    """
    places = np.arange(n)
    left, top = places % columns * (width + gap), places // columns * (height + gap + head) + head
    frame = rectangles(left, top, width, height, number=places)
    return frame, min(columns, n) * (width + gap) - gap, -(-n // columns) * (height + gap + head) - gap
