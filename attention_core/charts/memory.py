"""Charts of what a recurrent network remembers: states over time, gradient norms, how fast words fade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.layers import fixed, haloed
from attention_core.charts.lengths import spread_out
from attention_core.charts.palette import ROLE_COLOURS, VIRIDIS, Ramp
from attention_core.charts.raster import png_url
from attention_core.charts.scale import cells_frame, colour_bar, colour_bar_layer, colour_scale, names_at

NETWORK_COLOURS = {"GRU": "#0072B2", "plain RNN": "#D55E00"}
MUTED = "#7d8794"
DECADES = 4
"""Powers of ten that logarithmic colours and axes span at most; what is smaller is drawn as the smallest."""
PER_LABEL = 15
"""Screen pixels that a slanted word at an axis needs."""


def over_time(
    values: np.ndarray,
    labels: Sequence[str],
    ramp: Ramp,
    *,
    title: str,
    bar: str | None = None,
    columns: Mapping[str, Sequence[Any]],
    read: Sequence[bool],
    now: int | None = None,
    size: tuple[int, int] = (480, 192),
    words: bool = True,
) -> alt.LayerChart:
    """Draw numbers that change while a sentence is read: time runs to the right, dimensions downwards.

    Args:
        values: float (d, n). More rows than screen pixels are averaged in whole blocks.
        labels: n words.
        ramp: colours.
        title: above the chart.
        bar: title of the colour bar, or None for a chart without one.
        columns: what the mouse tells of a column: name -> n values.
        read: n, whether the column is there yet.
        now: the column that is read at this moment, framed, or None.
        size: screen pixels, width and height.
        words: whether the words stand below.
    """
    n = len(labels)
    width, height = size
    seen = np.where(np.asarray(read, dtype=bool), _mean_of_rows(values, height), np.nan)
    whole = pd.DataFrame([{"url": png_url(seen, ramp), "left": 0, "right": n, "top": 0, "bottom": 1}])
    x = alt.X("left:Q", title=None, scale=alt.Scale(domain=[0, n], nice=False), axis=_words_axis(labels, width, words))
    y = alt.Y("top:Q", title=None, axis=None, scale=alt.Scale(domain=[1, 0], nice=False))
    corners = {"x": x, "x2": alt.X2("right"), "y": y, "y2": alt.Y2("bottom")}
    image = (
        alt.Chart(whole)
        .mark_image(smooth=False, aspect=False, clip=True, aria=False)
        .encode(**corners, url=alt.Url("url:N"))
    )
    frame = pd.DataFrame({"left": range(n), "right": range(1, n + 1), "top": 0, "bottom": 1, **columns})
    answers = (
        alt.Chart(frame[np.asarray(read, dtype=bool)])
        .mark_rect(opacity=0, aria=False)
        .encode(
            **corners,
            tooltip=[
                alt.Tooltip(f"{name}:{'N' if isinstance(some[0], str) else 'Q'}", **_number_format(some[0]))
                for name, some in columns.items()
            ],
        )
    )
    layers = [image, answers]
    if bar is not None:
        layers.append(colour_bar_layer(ramp, bar, min(width, 200)))
    if now is not None:
        place = pd.DataFrame([{"left": now, "right": now + 1, "top": 0, "bottom": 1}])
        frame_of = alt.Chart(place).encode(**corners).mark_rect
        layers += haloed(frame_of, ROLE_COLOURS[Role.QUERY], (4, 2), fillOpacity=0, tooltip=None)
    heading = alt.Title(title, anchor="start", fontSize=12, fontWeight="normal", offset=4)
    return fixed(layers, width, height, title=heading)


def gradient_ramp(matrices: Sequence[np.ndarray], logarithmic: bool = False) -> Ramp:
    """Return one ramp for matrices that are compared.

    Args:
        matrices: float, NaN = nothing there.
        logarithmic: for log10 of the values, over at most DECADES powers of ten.
    """
    values = np.concatenate([one[np.isfinite(one) & (one > 0)] for one in matrices] or [np.ones(1)])
    high = float(values.max(initial=0.0)) or 1.0
    if not logarithmic:
        return Ramp(VIRIDIS, 0.0, high)
    least = max(float(values.min(initial=high)), high * 10.0**-DECADES)
    return Ramp(VIRIDIS, float(np.log10(min(least, high / 10))), float(np.log10(high)))


def gradient_heatmap(
    matrix: np.ndarray,
    labels: Sequence[str],
    ramp: Ramp,
    *,
    title: str,
    told: np.ndarray,
    logarithmic: bool = False,
    marked_row: int | None = None,
    select: str | None = None,
    size: int = 420,
) -> alt.LayerChart:
    """Draw how much each word (column) matters to each state (row).

    Args:
        matrix: float (n, n); NaN = the state cannot know the word, a grey cell.
        labels: n words.
        ramp: from gradient_ramp, shared by charts that are compared.
        title: of the colour bar.
        told: object (n, n), the sentence that the mouse tells of each cell.
        logarithmic: whether the ramp is.
        marked_row: the present state, framed, or None.
        select: name of a point selection over cells (fields row and col), or None.
        size: screen pixels of a side.
    """
    n = len(labels)
    frame = cells_frame(matrix, list(labels), list(labels))
    frame["told"] = told.ravel()
    frame["shown"] = np.log10(np.clip(frame["value"], 1e-30, None)) if logarithmic else frame["value"]
    bar = colour_bar(ramp, title, min(size, 260))
    if logarithmic:
        bar["values"] = list(np.linspace(ramp.low, ramp.high, 3))
        bar["labelExpr"] = "format(pow(10, datum.value), '.2~r')"
    slanted = alt.Axis(labelAngle=-45, **_word_labels(labels, size))
    upright = alt.Axis(**_word_labels(labels, size))
    base = alt.Chart(frame).encode(
        x=alt.X("col:O", title="how much does this word matter", axis=slanted),
        y=alt.Y("row:O", title="to the state after this one?", axis=upright),
    )
    colour = alt.Color("shown:Q", scale=colour_scale(ramp), legend=bar)
    cells = base.mark_rect(invalid=None).encode(
        color=alt.condition("datum.masked", alt.value("#9aa1aa40"), colour),
        tooltip=[alt.Tooltip("told:N", title=" ")],
    )
    if select:
        cells = cells.add_params(alt.selection_point(name=select, fields=["row", "col"], on="click", empty=False))
    layers = [cells]
    if marked_row is not None:
        mark = alt.Chart(pd.DataFrame([{"row": marked_row}])).encode(y=alt.Y("row:O"))
        look = {"fillOpacity": 0, "height": size / n, "tooltip": None}
        layers += haloed(mark.mark_bar, ROLE_COLOURS[Role.QUERY], (4, 2), **look)
    return fixed(layers, size, size)


def fading_chart(
    lines: Mapping[str, Sequence[float]],
    *,
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    words: Sequence[str] | None = None,
    logarithmic: bool = False,
    title: str = "",
    size: tuple[int, int] = (430, 190),
) -> alt.LayerChart:
    """Draw what is left of a word after 0, 1, 2, ... more words, one line per network, and where half is left.

    Args:
        lines: name of a network (of NETWORK_COLOURS) -> what is left.
        bands: name -> (lower, upper) around its line, or None.
        words: the word that was read at each moment, for the mouse, or None.
        logarithmic: whether the vertical axis is.
        title: above the chart.
        size: screen pixels, width and height.
    """
    height = size[1]
    least = (
        _lowest([*lines.values(), *(one for pair in (bands or {}).values() for one in pair)]) if logarithmic else 0.0
    )
    rows = [
        {
            "network": name,
            "later": later,
            "left": max(float(left), least),
            "word": words[later] if words else "",
        }
        for name, some in lines.items()
        for later, left in enumerate(some)
    ]
    frame = pd.DataFrame(rows)
    longest = max(1, int(frame["later"].max()))
    top = max(1.0, float(frame["left"].max()))
    scale = alt.Scale(type="log", domain=[least, top]) if logarithmic else alt.Scale(domain=[0, 1.02 * top], nice=False)
    x = alt.X(
        "later:Q",
        title="words later",
        scale=alt.Scale(domain=[0, longest * 1.16], nice=False),
        axis=alt.Axis(grid=False, format="d", values=list(range(0, longest + 1, 1 + longest // 12))),
    )
    y = alt.Y("left:Q", title=None, scale=scale, axis=alt.Axis(format="~%", tickCount=4))
    colour = alt.Color(
        "network:N",
        scale=alt.Scale(domain=list(NETWORK_COLOURS), range=list(NETWORK_COLOURS.values())),
        legend=None,
    )
    told = [alt.Tooltip("network:N"), alt.Tooltip("later:Q", title="words later")]
    told += [alt.Tooltip("word:N", title="after")] if words else []
    line = (
        alt.Chart(frame)
        .mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=30))
        .encode(x=x, y=y, color=colour, tooltip=[*told, alt.Tooltip("left:Q", title="left", format=".2%")])
    )
    half = alt.Chart(pd.DataFrame([{"left": 0.5, "later": 0, "text": "half"}]))
    layers = [
        half.mark_rule(strokeDash=[3, 3], color=MUTED, aria=False, tooltip=None).encode(y=alt.Y("left:Q")),
        *_bands(bands or {}, x, y, colour, least),
        line,
        *_line_names(frame, x, y, least, top, height),
    ]
    heading = alt.Title(title, anchor="start", fontSize=13, fontWeight="normal")
    return fixed(layers, *size, title=heading)


def _lowest(lines: Sequence[Sequence[float]]) -> float:
    """Return the power of ten at which a logarithmic axis for these lines begins: 0.1 or below."""
    least = max(min((float(one) for line in lines for one in line), default=1.0), 10.0**-DECADES)
    return min(0.1, 10.0 ** np.floor(np.log10(least)))


def _bands(bands, x, y, colour, least) -> list[alt.Chart]:
    rows = [
        {"network": name, "later": later, "left": max(float(low), least), "upper": max(float(high), least)}
        for name, (lower, upper) in bands.items()
        for later, (low, high) in enumerate(zip(lower, upper, strict=True))
    ]
    if not rows:
        return []
    area = alt.Chart(pd.DataFrame(rows)).mark_area(opacity=0.16, aria=False, tooltip=None)
    return [area.encode(x=x, y=y, y2=alt.Y2("upper"), color=colour)]


def _line_names(frame, x, y_axis, least, top, height) -> list[alt.Chart]:
    """Write each network's name at the end of its line, apart from each other where lines end close together."""
    ends = frame.sort_values("later").groupby("network", sort=False).tail(1).sort_values("left", ascending=False).copy()
    logarithmic = least > 0
    span = np.log10(top / least) if logarithmic else 1.02 * top
    at = np.log10(ends["left"]) if logarithmic else ends["left"]
    lowest = 0.02 * span + (np.log10(least) if logarithmic else 0.0)
    places = np.array(spread_out(list(at), 16 * span / height, lowest))
    ends["left"] = np.minimum(10.0**places, top) if logarithmic else places
    look = {"align": "left", "dx": 8, "fontWeight": "bold", "aria": False, "tooltip": None}
    return [
        alt.Chart(ends[ends["network"] == name])
        .mark_text(color=NETWORK_COLOURS[name], **look)
        .encode(x=x, y=y_axis, text=alt.Text("network:N"))
        for name in ends["network"]
    ]


def _mean_of_rows(values: np.ndarray, most: int) -> np.ndarray:
    """Average blocks of rows until there are at most so many."""
    starts = np.arange(0, values.shape[0], max(1, -(-values.shape[0] // most)))
    sizes = np.diff([*starts, values.shape[0]])
    return np.add.reduceat(values, starts, axis=0) / sizes[:, None]


def _number_format(value: Any) -> dict[str, str]:
    return {} if isinstance(value, str | int) else {"format": ".3g"}


def _word_labels(labels: Sequence[str], length: int) -> dict[str, Any]:
    every = -(-len(labels) * PER_LABEL // max(length, 1)) or 1
    place = "floor(datum.value)"
    text = f"{place} % {every} == 0 ? {names_at(labels, place)} : ''"
    return {
        "labelExpr": text,
        "labelLimit": 90,
        "ticks": False,
        "domain": False,
        "labelOverlap": "greedy",
        "labelSeparation": -200,
    }


def _words_axis(labels: Sequence[str], width: int, shown: bool) -> alt.Axis | None:
    if not shown:
        return None
    middles = [place + 0.5 for place in range(len(labels))]
    return alt.Axis(values=middles, labelAngle=-45, grid=False, **_word_labels(labels, width))
