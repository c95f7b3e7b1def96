"""Charts of a reading: looks by columns under the drawing, one region through all looks, vectors as strips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.design import Data, Design, alt
from attention_core.charts.layers import corners, fixed, rectangles
from attention_core.charts.marks import EDGE, clickable, images, outlined, pointer, texts, tips
from attention_core.charts.overlay import glow_ramp, image_url
from attention_core.charts.palette import LABELS, ROLE_COLOURS, Ramp, signed_ramp
from attention_core.charts.scale import colour_bar, colour_scale, from_to, names_at

NAMES = 64
"""Screen pixels for the names of rows, left of the chart."""


@dataclass(frozen=True, eq=False)
class Strip:
    """A vector (n,) to be shown as a row of coloured cells; its role decides the colour of its name."""

    name: str
    values: np.ndarray
    role: Role


def columns_chart(
    picture: np.ndarray,
    columns: np.ndarray,
    labels: Sequence[str],
    *,
    select: str | None = None,
    size: int = 600,
    marked: int | None = None,
    column: int | None = None,
) -> Design:
    """Draw the picture and under it a row for every look: how much weight each column of the picture gets.

    Args:
        picture: uint8 (height, width, 3 or 4).
        columns: float (n_looks, n_columns), weights summed over the rows of regions.
        labels: n_looks texts.
        select: name of a point selection over cells (fields look and column), or None.
        size: screen pixels of the picture's width.
        marked: the present look, or None.
        column: a column to follow through the looks, or None.
    """
    n, n_columns = columns.shape
    high, gap, row_height = size * picture.shape[0] / picture.shape[1], 8, 24
    ramp = glow_ramp(n_columns, float(columns.max()))
    tops = high + gap + row_height * np.arange(n)
    whole = rectangles(0, 0, n_columns, high, url=image_url(picture))
    looks, places = np.divmod(np.arange(columns.size), n_columns)
    names = [labels[look] for look in looks]
    cells = rectangles(
        places, tops[looks], 1, row_height - 2, look=looks, label=names, column=places, counted=places + 1
    )
    cells["weight"] = columns.ravel()
    end = float(tops[-1] + row_height)
    space = corners(n_columns, end)
    drawn = _coloured(cells, space, "weight", ramp, "weight of a column", 260, **pointer(select))
    tooltip = tips(("label:N", "look"), ("counted:Q", "column"), ("weight:Q", "", ".1%"))
    beside = rectangles(0, tops + row_height / 2 - 1, label=list(labels))
    layers = [
        images(whole, space, clip=True, smooth=True),
        alt.Chart(whole).mark_rect(**EDGE).encode(**space),
        clickable(drawn.encode(tooltip=tooltip), select, "look", "column"),
        texts(beside, space, "label", align="right", dx=-8, fontSize=12, color=LABELS),
    ]
    if marked is not None:
        row = rectangles(0, tops[marked] - 1, n_columns, row_height)
        layers.append(outlined(row, space, 2))
    if column is not None:
        beam = rectangles(column, 0.0, 1, end)
        layers.append(outlined(beam, space, 1.2, LABELS, strokeDash=[4, 3], tooltip=None))
    return fixed(layers, size, round(end), padding={"left": NAMES, "top": 5, "right": 5, "bottom": 5})


def _coloured(cells: Data, space: dict, field: str, ramp: Ramp, title: str, bar: int, **style) -> Design:
    colour = alt.Color(f"{field}:Q", scale=colour_scale(ramp), legend=colour_bar(ramp, title, bar))
    return alt.Chart(cells).mark_rect(**style).encode(**space, color=colour)


def region_chart(
    scores: np.ndarray,
    weights: np.ndarray,
    labels: Sequence[str],
    *,
    marked: int | None = None,
    width: int = 280,
    height: int = 200,
) -> Design:
    """Draw one region's score at every look as a line, with the weight that follows from it at every point.

    Scores, weights and labels are one per look; the marked look is the present one.
    """
    frame = pd.DataFrame(
        {
            "place": range(len(scores)),
            "score": np.asarray(scores, float),
            "weight": np.asarray(weights, float),
            "label": list(labels),
            "present": [place == marked for place in range(len(scores))],
            "valley": _valleys(np.asarray(scores, float)),
        }
    )
    room = 0.18 * max(float(np.ptp(frame["score"])), 1.0)
    low, high = float(frame["score"].min()) - room, float(frame["score"].max()) + room
    places = list(range(len(labels)))
    names = alt.Axis(title=None, values=places, labelExpr=names_at(labels), labelAngle=0, ticks=False, grid=False)
    base = alt.Chart(frame).encode(
        x=alt.X("place:Q", axis=names, scale=from_to(-0.5, len(labels) - 0.5)),
        y=alt.Y("score:Q", axis=alt.Axis(tickCount=4), scale=from_to(low, high)),
    )
    points = base.mark_circle(opacity=1, color=ROLE_COLOURS[Role.SCORES]).encode(
        size=alt.condition("datum.present", alt.value(160), alt.value(55)),
        tooltip=tips(("label:N", "look"), ("score:Q", "", ".2f"), ("weight:Q", "", ".2%")),
    )
    line = base.mark_line(color=ROLE_COLOURS[Role.SCORES], strokeWidth=2, aria=False)
    percent = base.encode(text=alt.Text("weight:Q", format=".1%"))
    look = {"fontSize": 11, "color": ROLE_COLOURS[Role.WEIGHTS], "aria": False}
    above = percent.transform_filter("!datum.valley").mark_text(dy=-13, **look)
    below = percent.transform_filter("datum.valley").mark_text(dy=14, **look)
    return fixed([line, points, above, below], width, height)


def _valleys(scores: np.ndarray) -> np.ndarray:
    """Say where a line through the scores bends upwards: what is written above such a point lies on the line."""
    around = np.pad(scores, 1, mode="edge")
    return (around[:-2] + around[2:]) / 2 > scores


def strips_chart(strips: Sequence[Strip], *, width: int = 600, row_height: int = 20) -> Design:
    """Draw vectors as rows of coloured cells on one signed scale, from top to bottom, the longest as wide as asked.

    A row is so high without the name above it.
    """
    head = 18
    longest = max(len(strip.values) for strip in strips)
    ramp = signed_ramp(np.concatenate([strip.values for strip in strips]))
    tops = head + (head + row_height) * np.arange(len(strips))
    high = int(tops[-1] + row_height)
    space = corners(longest, high)
    look = {"align": "left", "baseline": "bottom", "fontSize": 12, "fontWeight": 600}
    cells, names = [], []
    for strip, top in zip(strips, tops.astype(float), strict=True):
        numbers = np.arange(len(strip.values))
        row = rectangles(numbers, top, 1, row_height, vector=strip.name, number=numbers + 1)
        cells.append({**row, "value": np.asarray(strip.values, float).round(4)})
        above = rectangles(0, top - 4.0, name=strip.name)
        names.append(texts(above, space, "name", color=ROLE_COLOURS[strip.role], **look))
    every = {name: np.concatenate([row[name] for row in cells]) for name in cells[0]}
    drawn = _coloured(every, space, "value", ramp, "value", min(width - 20, 200), aria=False)
    return fixed([drawn.encode(tooltip=tips("vector:N", "number:Q", ("value:Q", "", ".3f"))), *names], width, high)
