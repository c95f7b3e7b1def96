"""Charts of what a recurrent network remembers: states over time, gradient norms, how fast words fade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from attention_core.charts.design import Design, alt
from attention_core.charts.heatmap import row_mark
from attention_core.charts.layers import cells_frame, corners, fixed, rectangles
from attention_core.charts.lengths import spread_out
from attention_core.charts.marks import SILENT, clickable, haloed, images, mouse_cells, texts, tips
from attention_core.charts.palette import MASKED, VIRIDIS, WORDS, Ramp
from attention_core.charts.raster import png_url
from attention_core.charts.scale import colour_bar, colour_bar_layer, colour_scale, from_to, names_at, one_each

NETWORK_COLOURS = {"GRU": "#0072B2", "plain RNN": "#D55E00"}
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
) -> Design:
    """Draw numbers (d, n) that change while a sentence is read: time runs to the right, dimensions downwards.

    More rows than screen pixels are averaged in whole blocks. Columns are what the mouse tells, name -> n values, of
    those that are read by now; the one that is read at this moment is framed. The title stands above the chart, that
    of the colour bar, if there is one, and the words, if wanted, below.
    """
    n = len(labels)
    width, height = size
    there = np.asarray(read, dtype=bool)
    seen = np.where(there, _mean_of_rows(values, height), np.nan)
    x = alt.X("left:Q", title=None, scale=from_to(0, n), axis=_words_axis(labels, width) if words else None)
    space = corners(n, 1, x=x, y=alt.Y("top:Q", title=None, axis=None, scale=from_to(1, 0)))
    frame = {name: np.asarray(some)[there] for name, some in rectangles(range(n), 0, **columns).items()}
    lines = [
        (f"{name}:N",) if isinstance(some[0], str) else (f"{name}:Q", "", "" if isinstance(some[0], int) else ".3g")
        for name, some in columns.items()
    ]
    layers = [
        images(rectangles(0, 0, n, url=png_url(seen, ramp)), space, clip=True),
        mouse_cells(frame, space, *lines),
    ]
    if bar is not None:
        layers.append(colour_bar_layer(ramp, bar, min(width, 200)))
    if now is not None:
        column = alt.Chart(rectangles(now, 0)).encode(**space)
        layers += haloed(column.mark_rect, (4, 2), fillOpacity=0, tooltip=None)
    heading = alt.Title(title, anchor="start", fontSize=12, fontWeight="normal", offset=4)
    return fixed(layers, width, height, title=heading)


def gradient_ramp(matrices: Sequence[np.ndarray], logarithmic: bool = False) -> Ramp:
    """Return one ramp for matrices that are compared, NaN = nothing there.

    A logarithmic one is for log10 of the values, over at most DECADES powers of ten.
    """
    values = np.concatenate([cells[np.isfinite(cells) & (cells > 0)] for cells in matrices] or [np.ones(1)])
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
) -> Design:
    """Draw how much each word (column) matters to each state (row), (n, n); NaN = it cannot know it, a grey cell.

    The ramp is from gradient_ramp, logarithmic or not, and shared by charts that are compared; told (n, n) are the
    sentences that the mouse tells of each cell. The present state's row is framed, and a point selection over cells
    has the fields row and col.
    """
    frame = cells_frame(matrix, labels, labels)
    frame["told"] = told.ravel()
    frame["shown"] = np.log10(np.clip(frame["value"], 1e-30, None)) if logarithmic else frame["value"]
    text, ticks = "format(pow(10, datum.value), '.2~r')", np.linspace(ramp.low, ramp.high, 3).tolist()
    powers = {"values": ticks, "labelExpr": text} if logarithmic else {}
    bar = colour_bar(ramp, title, min(size, 260), **powers)
    slanted, upright = alt.Axis(labelAngle=-45, **_word_labels(labels, size)), alt.Axis(**_word_labels(labels, size))
    base = alt.Chart(frame).encode(
        x=alt.X("col:O", title="how much does this word matter", axis=slanted),
        y=alt.Y("row:O", title="to the state after this one?", axis=upright),
    )
    colour = alt.Color("shown:Q", scale=colour_scale(ramp), legend=bar)
    cells = base.mark_rect(invalid=None).encode(
        color=alt.condition("datum.masked", alt.value(f"{MASKED}40"), colour), tooltip=tips(("told:N", " "))
    )
    layers = [clickable(cells, select, "row", "col", clear=alt.Undefined)]
    if marked_row is not None:
        layers += row_mark(marked_row, size / len(labels), tooltip=None)
    return fixed(layers, size, size)


def fading_chart(
    lines: Mapping[str, Sequence[float]],
    *,
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    words: Sequence[str] | None = None,
    logarithmic: bool = False,
    size: tuple[int, int] = (430, 190),
) -> Design:
    """Draw what is left of a word after 0, 1, 2, ... more words, one line per network, and where half is left.

    Lines are what is left by name of a network (of NETWORK_COLOURS), bands the (lower, upper) around some of them;
    words, if given, are those that were read at each moment, for the mouse.
    """
    height = size[1]
    ends = [*lines.values(), *(end for pair in (bands or {}).values() for end in pair)]
    least = _lowest(ends) if logarithmic else 0.0
    frame = pd.DataFrame(
        {"network": name, "later": later, "left": max(float(left), least), "word": words[later] if words else ""}
        for name, some in lines.items()
        for later, left in enumerate(some)
    )
    longest = max(1, int(frame["later"].max()))
    top = max(1.0, float(frame["left"].max()))
    scale = alt.Scale(type="log", domain=[least, top], nice=False) if logarithmic else from_to(0, 1.02 * top)
    ticks = [digit * 10.0**power for power in range(-DECADES, 3) for digit in (1, 2, 5)]
    shown = {"values": [tick for tick in ticks if least <= tick <= top]} if logarithmic else {"tickCount": 4}
    axis = alt.Axis(grid=False, format="d", values=list(range(0, longest + 1, 1 + longest // 12)))
    space = {
        "x": alt.X("later:Q", title="words later", scale=from_to(0, longest * 1.16), axis=axis),
        "y": alt.Y("left:Q", title=None, scale=scale, axis=alt.Axis(format="~%", **shown)),
    }
    colour = alt.Color("network:N", scale=one_each(NETWORK_COLOURS, NETWORK_COLOURS.values()), legend=None)
    after = [("word:N", "after")] if words else []
    line = alt.Chart(frame).mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=30))
    tooltip = tips("network:N", ("later:Q", "words later"), *after, ("left:Q", "left", ".2%"))
    half = alt.Chart(pd.DataFrame([{"left": 0.5, "later": 0, "text": "half"}]))
    layers = [
        half.mark_rule(strokeDash=[3, 3], color=WORDS, **SILENT).encode(y=alt.Y("left:Q")),
        *_bands(bands or {}, space, colour, least),
        line.encode(**space, color=colour, tooltip=tooltip),
        *_line_names(frame, space, least, top, height),
    ]
    return fixed(layers, *size)


def _lowest(lines: Sequence[Sequence[float]]) -> float:
    """Return the power of ten at which a logarithmic axis for these lines begins: 0.1 or below."""
    least = max(min((float(left) for line in lines for left in line), default=1.0), 10.0**-DECADES)
    return min(0.1, 10.0 ** np.floor(np.log10(least)))


def _bands(bands, space, colour, least) -> list[Design]:
    rows = [
        {"network": name, "later": later, "left": max(float(low), least), "upper": max(float(high), least)}
        for name, (lower, upper) in bands.items()
        for later, (low, high) in enumerate(zip(lower, upper, strict=True))
    ]
    if not rows:
        return []
    area = alt.Chart(pd.DataFrame(rows)).mark_area(opacity=0.16, **SILENT)
    return [area.encode(**space, y2=alt.Y2("upper"), color=colour)]


def _line_names(frame, space, least, top, height) -> list[Design]:
    """Write each network's name at the end of its line, apart from each other where lines end close together."""
    ends = frame.sort_values("later").groupby("network", sort=False).tail(1).sort_values("left", ascending=False).copy()
    logarithmic = least > 0
    span = np.log10(top / least) if logarithmic else 1.02 * top
    at = np.log10(ends["left"]) if logarithmic else ends["left"]
    lowest = 0.02 * span + (np.log10(least) if logarithmic else 0.0)
    places = np.array(spread_out(list(at), 16 * span / height, lowest))
    ends["left"] = np.minimum(10.0**places, top) if logarithmic else places
    look = {"align": "left", "dx": 8, "fontWeight": "bold", "tooltip": None}
    return [
        texts(ends[ends["network"] == name], space, "network", color=NETWORK_COLOURS[name], **look)
        for name in ends["network"]
    ]


def _mean_of_rows(values: np.ndarray, most: int) -> np.ndarray:
    """Average blocks of rows until there are at most so many."""
    starts = np.arange(0, values.shape[0], max(1, -(-values.shape[0] // most)))
    sizes = np.diff([*starts, values.shape[0]])
    return np.add.reduceat(values, starts, axis=0) / sizes[:, None]


def _word_labels(labels: Sequence[str], length: int) -> dict[str, Any]:
    every = -(-len(labels) * PER_LABEL // max(length, 1)) or 1
    return {
        "labelExpr": names_at(labels, "floor(datum.value)", every),
        "labelLimit": 90,
        "ticks": False,
        "domain": False,
        "labelOverlap": "greedy",
        "labelSeparation": -200,
    }


def _words_axis(labels: Sequence[str], width: int) -> Design:
    middles = [place + 0.5 for place in range(len(labels))]
    return alt.Axis(values=middles, labelAngle=-45, grid=False, **_word_labels(labels, width))
