"""Charts of a reading: looks by columns under the drawing, one region through all looks, vectors as strips."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts import vega as vl
from attention_core.charts.overlay import glow_ramp
from attention_core.charts.vega import alt

NAME: dict = {"fontSize": 12, "color": vl.LABEL_COLOUR}


@dataclass(frozen=True, eq=False)
class Strip:
    """A vector (n,) to be shown as a row of coloured cells; its role decides the colour of its name."""

    name: str
    values: np.ndarray
    role: Role


def columns_chart(columns: np.ndarray, labels: Sequence[str], *, size: int = 600) -> vl.Chart:
    """Draw a row for every look, to stand under the picture: how much weight each of its columns gets.

    Columns are weights summed over the rows of regions, float (n_looks, n_columns); the labels stand on the right, and
    the size is the picture's width on the screen.
    """
    n, n_columns = columns.shape
    row_height = 24
    looks, places = np.divmod(np.arange(columns.size), n_columns)
    names = [labels[look] for look in looks]
    ramp = glow_ramp(n_columns, float(columns.max()))
    known = {"look": looks, "label": names, "column": places, "counted": places + 1, "weight": columns.ravel()}
    cells = vl.rectangles(places, row_height * looks, 1, row_height - 2, **known)
    middles = vl.rectangles(n_columns, row_height * (np.arange(n) + 0.5) - 1, text=labels)
    space = vl.corners(n_columns, row_height * n)
    told = ("label:N", "look"), ("counted:Q", "column"), ("weight:Q", "", ".1%")
    colour = _colour("weight", ramp, "weight of a column", 260)
    layers = [
        vl.mark("rect", cells, space | {"color": colour}, *told, **vl.pointer_style(None)),
        vl.texts(middles, space, align="left", dx=8, **NAME),
    ]
    return vl.fixed_size(layers, size, row_height * n, padding={"left": 0, "top": 0, "right": 5, "bottom": 5})


def _colour(field: str, ramp: vl.Ramp, title: str, bar: int) -> vl.Channel:
    return alt.Color(f"{field}:Q", scale=vl.colour_scale(ramp), legend=vl.colour_bar(ramp, title, bar))


def region_chart(
    scores: np.ndarray, weights: np.ndarray, labels: Sequence[str], *, marked: int | None = None
) -> vl.Chart:
    """Draw one region's score at every look as a line, with the weight that follows from it at every point.

    Scores, weights and labels are one per look; the marked look is the present one.
    """
    n, room = len(scores), 0.18 * max(float(np.ptp(scores)), 1.0)
    data = {
        "place": range(n),
        "score": scores,
        "weight": weights,
        "label": labels,
        "present": [place == marked for place in range(n)],
    }
    looks = {"values": list(range(n)), "labelExpr": vl.label_expression(labels), "labelAngle": 0}
    names = alt.Axis(title=None, ticks=False, grid=False, **looks)
    space = {
        "x": alt.X("place:Q", axis=names, scale=vl.exact_scale(-0.5, n - 0.5)),
        "y": alt.Y(
            "score:Q", axis=alt.Axis(tickCount=4), scale=vl.exact_scale(scores.min() - room, scores.max() + room)
        ),
    }
    told, colour = (("label:N", "look"), ("score:Q", "", ".2f"), ("weight:Q", "", ".2%")), vl.ROLE_COLOURS[Role.SCORES]
    size = alt.condition("datum.present", alt.value(160), alt.value(55))
    percent = {**space, "text": alt.Text("weight:Q", format=".1%")}
    look = {"fontSize": 11, "color": vl.ROLE_COLOURS[Role.WEIGHTS]}
    layers = [
        vl.mark("line", data, space, color=colour, strokeWidth=2),
        vl.mark("circle", data, space, *told, size=size, opacity=1, color=colour),
        vl.mark("text", data, percent, dy=-13, **look),
    ]
    return vl.fixed_size(layers, 280, 200)


def strips_chart(strips: Sequence[Strip], *, width: int = 600) -> vl.Chart:
    """Draw vectors as rows of coloured cells on one signed scale, from top to bottom, the longest as wide as asked."""
    head, row_height, sizes, names = 18, 20, [len(strip.values) for strip in strips], [strip.name for strip in strips]
    values = np.concatenate([strip.values for strip in strips]).astype(float)
    tops = head + float(head + row_height) * np.arange(len(strips))
    numbers = np.concatenate([np.arange(size) for size in sizes])
    known = {"vector": np.repeat(names, sizes), "number": numbers + 1, "value": values.round(4)}
    high = int(tops[-1] + row_height)
    space = vl.corners(max(sizes), high)
    above = vl.rectangles(0, tops - 4, text=names, fill=[vl.ROLE_COLOURS[strip.role] for strip in strips])
    colour = _colour("value", vl.signed_ramp(values), "value", min(width - 20, 200))
    told, cells = ("vector:N", "number:Q", ("value:Q", "", ".3f")), np.repeat(tops, sizes)
    layers = [
        vl.mark("rect", vl.rectangles(numbers, cells, 1, row_height, **known), space, *told, color=colour, aria=False),
        vl.texts(above, space, color=vl.FILL, align="left", baseline="bottom", fontSize=12, fontWeight=600),
    ]
    return vl.fixed_size(layers, width, high)
