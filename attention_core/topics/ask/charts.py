"""Numbers of the regions of a picture beside the one of a key that has no place: a square of its own."""

from collections.abc import Sequence

import numpy as np

from attention_core.charts import vega as vl
from attention_core.charts.heatmap import dots, matrix_png

COLOURS_OF_LOOKS = ["#0072B2", "#CC79A7"]
WIDTH = 480
PARTS = ("empty key and bare paper", "empty key alone")
WORDS = {"fontSize": 11, "color": "#858d98"}
GAP, SQUARE = 1.2, 2.4  # widths in regions: between the picture and the square, and of the square


def region_picture(
    values: np.ndarray,
    grid: tuple[int, int],
    ramp: vl.Ramp,
    *,
    title: str,
    extra: str,
    size: int = 320,
    ink: np.ndarray | None = None,
    marked: int | None = None,
) -> vl.Chart:
    """Draw one number per region as a picture, and the last one, of the key without a place, as a square beside it.

    Values are float (rows * columns + 1,), -inf or NaN = blocked. `extra` is what the key without a place is called;
    ink (height, width) in [0, 1] is dotted over the picture; the marked region, in reading order, is framed.
    """
    rows, columns = grid
    scale = size / max(grid)
    left, top = columns + GAP, (rows - SQUARE) / 2
    said = f"{values[-1]:.3g}" if np.isfinite(values[-1]) else "blocked"
    parts = vl.rectangles([0.0, left], [0.0, top], [columns, SQUARE], [rows, SQUARE])
    parts["url"] = [matrix_png(part, ramp) for part in (values[:-1].reshape(grid), values[-1:].reshape(1, 1))]
    space = vl.corners(left + SQUARE + 1.2, rows)
    layers = [
        vl.images(parts, space),
        vl.mark("rect", parts, space, **vl.EDGE),
        vl.text_at(extra, left + SQUARE / 2, top, space, dy=-6, baseline="bottom", **WORDS),
        vl.text_at(said, left + SQUARE / 2, top + SQUARE, space, dy=6, baseline="top", **WORDS),
        vl.colour_bar_layer(ramp, title, min(size - 20, 260)),
    ]
    if ink is not None:
        layers.append(dots(ink, columns / ink.shape[1], rows / ink.shape[0], size=3, opacity=0.6))
    across, down = np.indices(grid).reshape(2, -1)[::-1]
    names = [f"row {row}, column {column}" for row, column in zip(down + 1, across + 1, strict=True)]
    places = np.append(across, left), np.append(down, top), *[np.append(np.ones(len(names)), SQUARE)] * 2
    shown = np.where(np.isfinite(values), values, np.nan)
    cells = vl.rectangles(*places, region=[*names, extra], value=shown)
    if marked is not None:
        layers.append(vl.outlined(vl.rectangles(*(place[marked] for place in places)), vl.CORNERS, 2.5))
    layers.append(vl.hover_cells(cells, vl.CORNERS, "region:N", ("value:Q", title, ".4g")))
    return vl.fixed_size(layers, round((left + SQUARE + 1.2) * scale), size)


def vector_bars(values: np.ndarray, *, title: str, colour: str) -> vl.Chart:
    """Draw the numbers of one vector (d,) as thin bars around 0."""
    n = len(values)
    axis = dict(grid=False, tickMinStep=1)
    space = {
        "x": vl.field("dimension:Q", title="dimension", scale=vl.exact_scale(0, n + 1), axis=axis),
        "y": vl.field("value:Q", title=title, axis=dict(tickCount=5)),
    }
    data = {"dimension": np.arange(1, n + 1), "value": values.astype(float)}
    look = {"color": colour, "width": max(1, round(0.7 * WIDTH / n))}
    bars = vl.mark("bar", data, space, "dimension:Q", ("value:Q", title, ".3f"), **look)
    return bars.properties(width=WIDTH, height=190)


def nothing_weights(counts: Sequence[int], empty: np.ndarray, paper: np.ndarray, said: Sequence[str]) -> vl.Chart:
    """Draw how the weight of what matches nothing changes with the number of things that match.

    Counts are n rising numbers of things, with the model's answer to each. Empty is the weight of the empty key at
    every look, (n, n_looks), paper that of all regions without ink.
    """
    looks = [f"look {look + 1}" for look in range(empty.shape[1])]
    parts = [
        vl.long_form(("look", "matching", "weight"), dict(zip(looks, weights.T, strict=True)), counts, answer=said)
        for weights in (empty + paper, empty)
    ]
    data = {name: [*parts[0][name], *parts[1][name]] for name in parts[0]}
    data["part"] = np.repeat(PARTS, len(data["look"]) // 2).tolist()
    axis = dict(values=list(counts), format="d", grid=False)
    scale = vl.exact_scale(min(counts) - 0.3, max(counts) + 0.3)
    space = {
        "x": vl.field("matching:Q", title="digits that match", axis=axis, scale=scale),
        "y": vl.percent_axis("weight", "weight", 5),
    }
    colour = vl.series_colour("look", looks, COLOURS_OF_LOOKS, labelLimit=220)
    dashes = dict(orient="bottom", title=None, labelLimit=220, symbolType="stroke", symbolStrokeColor=vl.GREY)
    dash = vl.field("part:N", sort=list(PARTS), scale=vl.category_scale(PARTS, ([1, 0], [3, 3])), legend=dashes)
    share, answer = ("weight:Q", "", ".1%"), ("answer:N", "model's answer")
    told = ("matching:Q", "digits that match"), "look:N", "part:N", share, answer
    answers = {"matching": counts, "said": [f"says {one}" for one in said], "weight": [1.0] * len(said)}
    layers = [
        vl.mark("line", data, space, *told, color=colour, strokeDash=dash, strokeWidth=2),
        vl.mark("point", data, space, *told, color=colour, size=50, filled=True, opacity=1),
        vl.texts(answers, space, "said", dy=2, **WORDS),
    ]
    return vl.layer(*layers, height=250)
