"""Numbers of the regions of a picture beside the one of a key that has no place: a square of its own."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.layers import CORNERS, corners, fixed
from attention_core.charts.palette import ROLE_COLOURS, Ramp
from attention_core.charts.raster import png_url
from attention_core.charts.scale import colour_bar_layer, series_colour

COLOURS_OF_LOOKS = ["#0072B2", "#CC79A7"]
GAP, SQUARE = 1.2, 2.4
"""Widths in regions: between the picture and the square, and of the square."""


def region_picture(
    values: np.ndarray,
    grid: tuple[int, int],
    ramp: Ramp,
    *,
    title: str,
    extra: str,
    size: int = 320,
    ink: np.ndarray | None = None,
    marked: int | None = None,
) -> alt.LayerChart:
    """Draw one number per region as a picture, and the last one, of the key without a place, as a square beside it.

    Args:
        values: float (rows * columns + 1,), the last one is the extra key's; -inf or NaN = blocked.
        grid: (rows, columns).
        ramp: values to colours.
        title: what a value is.
        extra: what the extra key is called.
        size: screen pixels of the picture's longer side.
        ink: float (height, width) in [0, 1], dotted over the picture, or None.
        marked: region to frame in reading order, rows * columns = the extra key, or None.
    """
    rows, columns = grid
    scale = size / max(grid)
    left, top = columns + GAP, (rows - SQUARE) / 2
    parts = pd.DataFrame(
        {
            "url": [png_url(values[:-1].reshape(grid), ramp), png_url(values[-1:].reshape(1, 1), ramp)],
            "left": [0.0, left],
            "right": [float(columns), left + SQUARE],
            "top": [0.0, top],
            "bottom": [float(rows), top + SQUARE],
            "name": ["", extra],
            "number": ["", f"{values[-1]:.3g}" if np.isfinite(values[-1]) else "blocked"],
        }
    )
    base = alt.Chart(parts).encode(**corners(left + SQUARE + 1.2, rows))
    layers = [
        base.mark_image(smooth=False, aspect=False, aria=False).encode(url=alt.Url("url:N")),
        base.mark_rect(fillOpacity=0, stroke="#8a93a066", aria=False),
        _words(parts[1:], "name", "top", -6, "bottom"),
        _words(parts[1:], "number", "bottom", 6, "top"),
        colour_bar_layer(ramp, title, min(size - 20, 260)),
    ]
    if ink is not None:
        layers.append(_dots(ink, grid))
    if marked is not None:
        layers.append(_frame(marked, grid, parts))
    layers.append(_cells(values, grid, title, extra, parts))
    return fixed(layers, round((left + SQUARE + 1.2) * scale), size)


def _words(parts: pd.DataFrame, field: str, side: str, offset: int, baseline: str) -> alt.Chart:
    middle = parts.assign(middle=(parts["left"] + parts["right"]) / 2)
    return (
        alt.Chart(middle)
        .mark_text(dy=offset, baseline=baseline, fontSize=11, color="#858d98", aria=False)
        .encode(x=alt.X("middle:Q"), y=alt.Y(f"{side}:Q"), text=alt.Text(f"{field}:N"))
    )


def _dots(ink: np.ndarray, grid: tuple[int, int]) -> alt.Chart:
    rows, columns = np.nonzero(ink > 0.5)
    frame = pd.DataFrame(
        {"left": (columns + 0.5) * grid[1] / ink.shape[1], "top": (rows + 0.5) * grid[0] / ink.shape[0]}
    )
    return (
        alt.Chart(frame)
        .mark_circle(size=3, color="white", opacity=0.6, aria=False, tooltip=None)
        .encode(x=alt.X("left:Q"), y=alt.Y("top:Q"))
    )


def _frame(marked: int, grid: tuple[int, int], parts: pd.DataFrame) -> alt.Chart:
    row, column = divmod(marked, grid[1])
    box = parts.loc[1, ["left", "right", "top", "bottom"]].to_dict() if marked == grid[0] * grid[1] else None
    frame = pd.DataFrame([box or {"left": column, "right": column + 1, "top": row, "bottom": row + 1}])
    return (
        alt.Chart(frame)
        .mark_rect(fillOpacity=0, stroke=ROLE_COLOURS[Role.QUERY], strokeWidth=2.5, aria=False, tooltip=None)
        .encode(**CORNERS)
    )


def _cells(values: np.ndarray, grid: tuple[int, int], title: str, extra: str, parts: pd.DataFrame) -> alt.Chart:
    """Return what the mouse meets, invisible."""
    rows, columns = np.divmod(np.arange(grid[0] * grid[1]), grid[1])
    shown = np.where(np.isfinite(values), values, np.nan)
    frame = pd.DataFrame(
        {
            "region": [*(f"row {row}, column {column}" for row, column in zip(rows, columns, strict=True)), extra],
            "left": [*columns, parts["left"][1]],
            "right": [*columns + 1, parts["right"][1]],
            "top": [*rows, parts["top"][1]],
            "bottom": [*rows + 1, parts["bottom"][1]],
            "value": shown,
        }
    )
    return (
        alt.Chart(frame)
        .mark_rect(opacity=0, aria=False)
        .encode(**CORNERS, tooltip=[alt.Tooltip("region:N"), alt.Tooltip("value:Q", title=title, format=".4g")])
    )


def vector_bars(values: np.ndarray, *, title: str, colour: str, width: int = 480, height: int = 190) -> alt.Chart:
    """Draw the numbers of one vector (d,) as thin bars around 0."""
    frame = pd.DataFrame({"dimension": np.arange(len(values)), "value": values.astype(float)})
    return (
        alt.Chart(frame)
        .mark_bar(color=colour, width=max(1, round(0.7 * width / len(values))))
        .encode(
            x=alt.X(
                "dimension:Q",
                title="dimension",
                scale=alt.Scale(domain=[-1, len(values)], nice=False),
                axis=alt.Axis(grid=False, tickMinStep=1),
            ),
            y=alt.Y("value:Q", title=title, axis=alt.Axis(tickCount=5)),
            tooltip=[alt.Tooltip("dimension:Q"), alt.Tooltip("value:Q", format=".3f", title=title)],
        )
        .properties(width=width, height=height)
    )


PARTS = ("empty key and bare paper", "empty key alone")


def nothing_weights(
    counts: Sequence[int], empty: np.ndarray, paper: np.ndarray, said: Sequence[str], *, height: int = 250
) -> alt.LayerChart:
    """Draw how the weight of what matches nothing changes with the number of things that match.

    Args:
        counts: n numbers of things, ascending.
        empty: float (n, n_looks), the empty key's weight at every look.
        paper: float (n, n_looks), the weight of all regions without ink.
        said: n answers.
        height: screen pixels.
    """
    looks = [f"look {look + 1}" for look in range(empty.shape[1])]
    frame = pd.DataFrame(
        [
            {
                "matching": count,
                "look": look,
                "part": part,
                "weight": float(weights[place, number]),
                "answer": said[place],
            }
            for part, weights in zip(PARTS, (empty + paper, empty), strict=True)
            for place, count in enumerate(counts)
            for number, look in enumerate(looks)
        ]
    )
    across = alt.X(
        "matching:Q",
        title="digits that match",
        axis=alt.Axis(values=list(counts), format="d", grid=False),
        scale=alt.Scale(domain=[min(counts) - 0.3, max(counts) + 0.3], nice=False),
    )
    up = alt.Y("weight:Q", title="weight", axis=alt.Axis(format="%", tickCount=5), scale=alt.Scale(domain=[0, 1]))
    dashes = alt.Legend(orient="top", title=None, labelLimit=220, symbolType="stroke", symbolStrokeColor="#8a93a0")
    base = alt.Chart(frame).encode(
        x=across,
        y=up,
        color=series_colour("look", looks, COLOURS_OF_LOOKS, labelLimit=220),
        tooltip=[
            alt.Tooltip("matching:Q", title="digits that match"),
            alt.Tooltip("look:N"),
            alt.Tooltip("part:N"),
            alt.Tooltip("weight:Q", format=".1%"),
            alt.Tooltip("answer:N", title="model's answer"),
        ],
    )
    answers = pd.DataFrame({"matching": list(counts), "said": [f"says {one}" for one in said], "weight": 1.0})
    words = (
        alt.Chart(answers)
        .mark_text(dy=2, fontSize=11, color="#858d98", aria=False)
        .encode(x=across, y=up, text=alt.Text("said:N"))
    )
    lines = base.mark_line(strokeWidth=2).encode(
        strokeDash=alt.StrokeDash(
            "part:N", sort=list(PARTS), scale=alt.Scale(domain=list(PARTS), range=[[1, 0], [3, 3]]), legend=dashes
        )
    )
    points = base.mark_point(size=50, filled=True, opacity=1)
    return alt.layer(lines, points, words).properties(height=height)
