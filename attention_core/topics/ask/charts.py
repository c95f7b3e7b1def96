"""Numbers of the regions of a picture beside the one of a key that has no place: a square of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention_core.charts.design import Columns, Design, alt
from attention_core.charts.layers import CORNERS, corners, fixed, rectangles
from attention_core.charts.marks import EDGE, images, mouse_cells, outlined, texts, tips
from attention_core.charts.palette import GREY, Ramp
from attention_core.charts.picture import dots
from attention_core.charts.raster import png_url
from attention_core.charts.scale import colour_bar_layer, from_to, one_each, series_colour, shares

COLOURS_OF_LOOKS = ["#0072B2", "#CC79A7"]
SMALL = "#858d98"
"""Small words."""
SIDES = ("left", "right", "top", "bottom")
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
) -> Design:
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
    said = f"{values[-1]:.3g}" if np.isfinite(values[-1]) else "blocked"
    parts = rectangles([0.0, left], [0.0, top], [columns, SQUARE], [rows, SQUARE])
    parts["url"] = [png_url(part, ramp) for part in (values[:-1].reshape(grid), values[-1:].reshape(1, 1))]
    square = rectangles(left, top, SQUARE, SQUARE, name=extra, number=said)
    space = corners(left + SQUARE + 1.2, rows)
    layers = [
        images(parts, space),
        alt.Chart(parts).mark_rect(**EDGE).encode(**space),
        _words(square, "name", "top", -6, "bottom"),
        _words(square, "number", "bottom", 6, "top"),
        colour_bar_layer(ramp, title, min(size - 20, 260)),
    ]
    if ink is not None:
        layers.append(dots(ink, columns / ink.shape[1], rows / ink.shape[0], size=3, opacity=0.6))
    cells = _cells(values, grid, extra, square)
    if marked is not None:
        frame = {side: cells[side][[marked]] for side in SIDES}
        layers.append(outlined(frame, CORNERS, 2.5, tooltip=None))
    layers.append(mouse_cells(cells, CORNERS, "region:N", ("value:Q", title, ".4g")))
    return fixed(layers, round((left + SQUARE + 1.2) * scale), size)


def _words(square: Columns, field: str, side: str, offset: int, baseline: str) -> Design:
    middle = {**square, "middle": (square["left"] + square["right"]) / 2}
    place = {"x": alt.X("middle:Q"), "y": alt.Y(f"{side}:Q")}
    return texts(middle, place, field, dy=offset, baseline=baseline, fontSize=11, color=SMALL)


def _cells(values: np.ndarray, grid: tuple[int, int], extra: str, square: Columns) -> Columns:
    """Return every region, and the square last, as a rectangle with its name and its value."""
    rows, columns = np.indices(grid).reshape(2, -1)
    names = [f"row {row}, column {column}" for row, column in zip(rows + 1, columns + 1, strict=True)]
    regions = rectangles(columns, rows)
    cells = {side: np.append(regions[side], square[side]) for side in SIDES}
    return {**cells, "region": [*names, extra], "value": np.where(np.isfinite(values), values, np.nan)}


def vector_bars(values: np.ndarray, *, title: str, colour: str, width: int = 480, height: int = 190) -> Design:
    """Draw the numbers of one vector (d,) as thin bars around 0."""
    frame = {"dimension": np.arange(1, len(values) + 1), "value": values.astype(float)}
    thick = max(1, round(0.7 * width / len(values)))
    axis = alt.Axis(grid=False, tickMinStep=1)
    bars = alt.Chart(frame, width=width, height=height).mark_bar(color=colour, width=thick)
    return bars.encode(
        x=alt.X("dimension:Q", title="dimension", scale=from_to(0, len(values) + 1), axis=axis),
        y=alt.Y("value:Q", title=title, axis=alt.Axis(tickCount=5)),
        tooltip=tips("dimension:Q", ("value:Q", title, ".3f")),
    )


PARTS = ("empty key and bare paper", "empty key alone")


def nothing_weights(
    counts: Sequence[int], empty: np.ndarray, paper: np.ndarray, said: Sequence[str], *, height: int = 250
) -> Design:
    """Draw how the weight of what matches nothing changes with the number of things that match.

    Counts are n rising numbers of things, with the model's answer to each. Empty is the weight of the empty key at
    every look, (n, n_looks), paper that of all regions without ink.
    """
    looks = [f"look {look + 1}" for look in range(empty.shape[1])]
    rows = [
        (count, look, part, float(weight), answer)
        for part, weights in zip(PARTS, (empty + paper, empty), strict=True)
        for count, answer, row in zip(counts, said, weights, strict=True)
        for look, weight in zip(looks, row, strict=True)
    ]
    frame = dict(zip(("matching", "look", "part", "weight", "answer"), zip(*rows, strict=True), strict=True))
    across = alt.X(
        "matching:Q",
        title="digits that match",
        axis=alt.Axis(values=list(counts), format="d", grid=False),
        scale=from_to(min(counts) - 0.3, max(counts) + 0.3),
    )
    space = {"x": across, "y": shares("weight", "weight", 5)}
    share, answer = ("weight:Q", "", ".1%"), ("answer:N", "model's answer")
    base = alt.Chart(frame).encode(
        **space,
        color=series_colour("look", looks, COLOURS_OF_LOOKS, labelLimit=220),
        tooltip=tips(("matching:Q", "digits that match"), "look:N", "part:N", share, answer),
    )
    dashes = alt.Legend(orient="bottom", title=None, labelLimit=220, symbolType="stroke", symbolStrokeColor=GREY)
    dash = alt.StrokeDash("part:N", sort=list(PARTS), scale=one_each(PARTS, ([1, 0], [3, 3])), legend=dashes)
    answers = {"matching": list(counts), "said": [f"says {answer}" for answer in said], "weight": [1.0] * len(said)}
    words = texts(answers, space, "said", dy=2, fontSize=11, color=SMALL)
    points = base.mark_point(size=50, filled=True, opacity=1)
    return alt.layer(base.mark_line(strokeWidth=2).encode(strokeDash=dash), points, words, height=height)
