"""The chart of what is told of a curve."""

from collections.abc import Mapping

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts import vega as vl

SERIES_SIZE = (430, 125)
SERIES_COLOURS = (vl.GREY, vl.ROLE_COLOURS[Role.CONTEXT], "#0072B2", "#009E73")


def series_chart(curve: np.ndarray, told: Mapping[str, np.ndarray], asked: range) -> vl.Chart:
    """Draw a curve (n,) from -1 to 1, shaded where it is hidden, and what each says of it there, (n_asked,) by name."""
    end = len(curve) - 1
    lines = vl.long_form(("what", "step", "value"), {"drawn": curve})
    for name, values in told.items():
        own = vl.long_form(("what", "step", "value"), {name: values}, list(asked))
        lines = {column: [*lines[column], *own[column]] for column in lines}
    space = {
        "x": vl.field("step:Q", title="time", scale=vl.exact_scale(0, end), axis=dict(grid=False, tickCount=6)),
        "y": vl.field("value:Q", title=None, scale=vl.exact_scale(-1.05, 1.05), axis=dict(tickCount=3)),
    }
    colour = vl.series_colour("what", ["drawn", *told], SERIES_COLOURS[: 1 + len(told)], offset=2)
    hidden = {"step": [max(asked[0] - 0.5, 0)], "until": [min(asked[-1] + 0.5, end)]}
    shaded = {"x": space["x"], "x2": vl.field("until")}
    told_of = "what:N", ("step:Q", "time"), ("value:Q", "", ".2f")
    layers = [
        vl.mark("rect", hidden, shaded, color=vl.GREY, opacity=0.16),
        vl.mark("line", lines, {**space, "color": colour}, *told_of, strokeWidth=2),
    ]
    return vl.fixed_size(layers, *SERIES_SIZE)
