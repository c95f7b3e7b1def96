"""Charts of a reading: looks by columns under the drawing, one region through all looks, vectors as strips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.layers import clickable, corners, fixed, pointer
from attention_core.charts.overlay import glow_ramp, image_url
from attention_core.charts.palette import ROLE_COLOURS, signed_ramp
from attention_core.charts.scale import colour_bar, colour_scale, names_at

LABELS = 64
"""Screen pixels for the names of rows, left of the chart."""
GREY = "#747b86"


@dataclass(frozen=True, eq=False)
class Strip:
    """A vector to be shown as a row of coloured cells.

    Attributes:
        name: of the vector.
        values: float (n,).
        role: decides the colour of its name.
    """

    name: str
    values: np.ndarray
    role: Role


def columns_chart(
    picture: np.ndarray,
    columns: np.ndarray,
    labels: Sequence[str],
    *,
    size: int = 600,
    row_height: int = 24,
    marked: int | None = None,
    column: int | None = None,
    select: str | None = None,
) -> alt.LayerChart:
    """Draw the picture and under it a row for every look: how much weight each column of the picture gets.

    Args:
        picture: uint8 (height, width, 3 or 4).
        columns: float (n_looks, n_columns), weights summed over the rows of regions.
        labels: n_looks texts.
        size: screen pixels of the picture's width.
        row_height: screen pixels of a look's row.
        marked: the present look, or None.
        column: a column to follow through the looks, or None.
        select: name of a point selection over cells (fields look and column), or None.
    """
    n, n_columns = columns.shape
    high, gap = size * picture.shape[0] / picture.shape[1], 8
    ramp = glow_ramp(n_columns, float(columns.max()))
    tops = high + gap + row_height * np.arange(n)
    whole = pd.DataFrame([{"url": image_url(picture), "left": 0, "right": n_columns, "top": 0.0, "bottom": high}])
    looks, places = np.divmod(np.arange(columns.size), n_columns)
    cells = pd.DataFrame(
        {
            "look": looks,
            "label": [labels[look] for look in looks],
            "column": places,
            "left": places,
            "right": places + 1,
            "top": tops[looks],
            "bottom": tops[looks] + row_height - 2,
            "weight": columns.ravel(),
        }
    )
    end = float(tops[-1] + row_height)
    space = corners(n_columns, end)
    shown = alt.Chart(whole).encode(**space)
    map_cells = (
        alt.Chart(cells)
        .mark_rect(**pointer(select))
        .encode(
            **space,
            color=alt.Color("weight:Q", scale=colour_scale(ramp), legend=colour_bar(ramp, "weight of a column", 260)),
            tooltip=[
                alt.Tooltip("label:N", title="look"),
                alt.Tooltip("column:Q"),
                alt.Tooltip("weight:Q", format=".1%"),
            ],
        )
    )
    names = pd.DataFrame({"left": 0, "top": tops + row_height / 2 - 1, "label": list(labels)})
    layers = [
        shown.mark_image(aspect=False, clip=True, aria=False, smooth=True).encode(url=alt.Url("url:N")),
        shown.mark_rect(fillOpacity=0, stroke="#8a93a066", aria=False),
        clickable(map_cells, select, "look", "column"),
        alt.Chart(names)
        .mark_text(align="right", dx=-8, fontSize=12, color=GREY, aria=False)
        .encode(x=space["x"], y=space["y"], text=alt.Text("label:N")),
    ]
    frame = {"fillOpacity": 0, "stroke": ROLE_COLOURS[Role.QUERY], "strokeWidth": 2, "aria": False}
    if marked is not None:
        row = {"left": 0, "right": n_columns, "top": tops[marked] - 1, "bottom": tops[marked] + row_height - 1}
        layers.append(alt.Chart(pd.DataFrame([row])).mark_rect(**frame).encode(**space))
    if column is not None:
        beam = {"left": column, "right": column + 1, "top": 0.0, "bottom": end}
        layers.append(
            alt.Chart(pd.DataFrame([beam]))
            .mark_rect(fillOpacity=0, stroke=GREY, strokeDash=[4, 3], strokeWidth=1.2, aria=False, tooltip=None)
            .encode(**space)
        )
    return fixed(layers, size, round(end), padding={"left": LABELS, "top": 5, "right": 5, "bottom": 5})


def region_chart(
    scores: np.ndarray,
    weights: np.ndarray,
    labels: Sequence[str],
    *,
    marked: int | None = None,
    width: int = 280,
    height: int = 200,
) -> alt.LayerChart:
    """Draw one region's score at every look as a line, with the weight that follows from it at every point.

    Args:
        scores: float (n_looks,).
        weights: float (n_looks,).
        labels: n_looks texts.
        marked: the present look, or None.
        width: screen pixels.
        height: screen pixels.
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
    span = [float(frame["score"].min()) - room, float(frame["score"].max()) + room]
    names = alt.Axis(
        title=None,
        values=list(range(len(labels))),
        labelExpr=names_at(labels),
        labelAngle=0,
        ticks=False,
        grid=False,
    )
    base = alt.Chart(frame).encode(
        x=alt.X("place:Q", axis=names, scale=alt.Scale(domain=[-0.5, len(labels) - 0.5], nice=False)),
        y=alt.Y("score:Q", axis=alt.Axis(tickCount=4), scale=alt.Scale(domain=span, nice=False)),
    )
    points = base.mark_circle(opacity=1, color=ROLE_COLOURS[Role.SCORES]).encode(
        size=alt.condition("datum.present", alt.value(160), alt.value(55)),
        tooltip=[
            alt.Tooltip("label:N", title="look"),
            alt.Tooltip("score:Q", format=".2f"),
            alt.Tooltip("weight:Q", format=".2%"),
        ],
    )
    line = base.mark_line(color=ROLE_COLOURS[Role.SCORES], strokeWidth=2, aria=False)
    shares = [
        base.transform_filter(where)
        .mark_text(dy=dy, fontSize=11, color=ROLE_COLOURS[Role.WEIGHTS], aria=False)
        .encode(text=alt.Text("weight:Q", format=".1%"))
        for where, dy in (("!datum.valley", -13), ("datum.valley", 14))
    ]
    return fixed([line, points, *shares], width, height)


def _valleys(scores: np.ndarray) -> np.ndarray:
    """Say where a line through the scores bends upwards: what is written above such a point lies on the line."""
    around = np.pad(scores, 1, mode="edge")
    return (around[:-2] + around[2:]) / 2 > scores


def strips_chart(strips: Sequence[Strip], *, width: int = 600, row_height: int = 20) -> alt.LayerChart:
    """Draw vectors as rows of coloured cells on one signed scale; each row is as wide as its vector is long.

    Args:
        strips: the vectors, from top to bottom.
        width: screen pixels of the longest.
        row_height: screen pixels of a row of cells; its name stands above it.
    """
    head = 18
    longest = max(len(strip.values) for strip in strips)
    ramp = signed_ramp(np.concatenate([strip.values for strip in strips]))
    tops = head + (head + row_height) * np.arange(len(strips))
    cells = pd.concat(
        [
            pd.DataFrame(
                {
                    "left": np.arange(len(strip.values)),
                    "right": np.arange(len(strip.values)) + 1,
                    "top": float(top),
                    "bottom": float(top + row_height),
                    "vector": strip.name,
                    "number": np.arange(len(strip.values)),
                    "value": np.asarray(strip.values, float).round(4),
                }
            )
            for strip, top in zip(strips, tops, strict=True)
        ],
        ignore_index=True,
    )
    high = int(tops[-1] + row_height)
    space = corners(longest, high)
    drawn = (
        alt.Chart(cells)
        .mark_rect(aria=False)
        .encode(
            **space,
            color=alt.Color(
                "value:Q", scale=colour_scale(ramp), legend=colour_bar(ramp, "value", min(width - 20, 200))
            ),
            tooltip=[alt.Tooltip("vector:N"), alt.Tooltip("number:Q"), alt.Tooltip("value:Q", format=".3f")],
        )
    )
    names = [
        alt.Chart(pd.DataFrame([{"left": 0, "top": top - 4.0, "name": strip.name}]))
        .mark_text(
            align="left", baseline="bottom", fontSize=12, fontWeight=600, color=ROLE_COLOURS[strip.role], aria=False
        )
        .encode(x=space["x"], y=space["y"], text=alt.Text("name:N"))
        for strip, top in zip(strips, tops, strict=True)
    ]
    return fixed([drawn, *names], width, high)
