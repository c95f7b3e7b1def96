"""Charts of a reading: looks by columns under the drawing, one region through all looks."""

from collections.abc import Sequence

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts import vega as vl
from attention_core.charts.overlay import glow_ramp

NAME: dict = {"fontSize": 21, "fontWeight": "bold", "color": vl.LABEL_COLOUR}


def columns_chart(columns: np.ndarray, labels: Sequence[str], size: int, *, left_out: int = 0) -> vl.Chart:
    """Draw a row for every look, to stand under the picture: how much weight each of its columns gets.

    Columns are weights summed over the rows of regions, float (n_looks, n_columns); the labels stand on the right, and
    the size is the picture's width on the screen. Above stand dashed rows for digits at whose places no look went.
    """
    columns = np.vstack([np.zeros((left_out, columns.shape[1])), columns])
    labels = [*["no look"] * left_out, *labels]
    n, n_columns = columns.shape
    row_height = 27
    looks, places = np.divmod(np.arange(columns.size), n_columns)
    names = [labels[look] for look in looks]
    ramp = glow_ramp(n_columns, float(columns.max()))
    known = {"look": looks, "label": names, "column": places, "counted": places + 1, "weight": columns.ravel()}
    cells = vl.rectangles(places, row_height * looks, 1, row_height - 2, **known)
    empty = vl.rectangles(0, row_height * np.arange(left_out), n_columns, row_height - 2)
    middles = vl.rectangles(n_columns, row_height * (np.arange(n) + 0.5) - 1, text=labels)
    space = vl.corners(n_columns, row_height * n)
    tooltip = ("label:N", "look"), ("counted:Q", "column"), ("weight:Q", "", ".1%")
    colour = vl.field("weight:Q", scale=vl.colour_scale(ramp), legend=None)
    layers = [
        vl.mark("rect", cells, space | {"color": colour}, *tooltip, **vl.pointer_style(None)),
        vl.outlined(empty, space, 1.5, strokeDash=[5, 4]),
        vl.texts(middles, space, align="left", dx=8, **NAME),
    ]
    return vl.fixed_size(layers, size, row_height * n, padding={"left": 0, "top": 0, "right": 5, "bottom": 5})


def region_chart(scores: np.ndarray, weights: np.ndarray, labels: Sequence[str], *, marked: int) -> vl.Chart:
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
    names = dict(title=None, ticks=False, grid=False, **looks)
    space = {
        "x": vl.field("place:Q", axis=names, scale=vl.exact_scale(-0.5, n - 0.5)),
        "y": vl.field(
            "score:Q", axis=dict(tickCount=4), scale=vl.exact_scale(scores.min() - room, scores.max() + room)
        ),
    }
    tooltip = ("label:N", "look"), ("score:Q", "", ".2f"), ("weight:Q", "", ".2%")
    colour = vl.ROLE_COLOURS[Role.SCORES]
    size = vl.condition("datum.present", vl.value(160), vl.value(55))
    percent = {**space, "text": vl.field("weight:Q", format=".1%")}
    look = {"fontSize": 11, "color": vl.ROLE_COLOURS[Role.WEIGHTS]}
    layers = [
        vl.mark("line", data, space, color=colour, strokeWidth=2),
        vl.mark("circle", data, space, *tooltip, size=size, opacity=1, color=colour),
        vl.mark("text", data, percent, dy=-13, **look),
    ]
    return vl.fixed_size(layers, 280, 200)
