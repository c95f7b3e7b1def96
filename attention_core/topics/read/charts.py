"""A chart of a reading: one region through all looks."""

from collections.abc import Sequence

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts import vega as vl


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
