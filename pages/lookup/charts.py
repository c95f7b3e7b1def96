"""The chart of what is told of a curve."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from attention_core.attention.types import Role
from attention_core.charts.chart import LayerChart, per_structure
from attention_core.charts.columns import long_form
from attention_core.charts.layers import QUIET, exact_scale, fixed_size, named, series_colour
from attention_core.charts.ramps import GREY, ROLE_COLOURS

SERIES_SIZE = (430, 125)
SERIES_COLOURS = (GREY, ROLE_COLOURS[Role.CONTEXT], "#0072B2", "#009E73")


def series_chart(curve: np.ndarray, told: Mapping[str, np.ndarray], asked: range) -> LayerChart:
    """Draw a curve (n,) from -1 to 1, shaded where it is hidden, and what each says of it there, (n_asked,) by name."""
    end = len(curve) - 1
    lines = long_form(("what", "step", "value"), {"drawn": curve})
    for name, values in told.items():
        own = long_form(("what", "step", "value"), {name: values}, list(asked))
        lines = {column: [*lines[column], *own[column]] for column in lines}
    hidden = {"step": [max(asked[0] - 0.5, 0)], "until": [min(asked[-1] + 0.5, end)]}
    names, colours = ["drawn", *told], [*SERIES_COLOURS[: 1 + len(told)]]
    return _series_chart({"lines": lines, "hidden": hidden}, end=end, names=names, colours=colours)


@per_structure
def _series_chart(end: int, names: list[str], colours: list[str]) -> alt.LayerChart:
    x = alt.X("step:Q", title="time", scale=exact_scale(0, end), axis=alt.Axis(grid=False, tickCount=6))
    y = alt.Y("value:Q", title=None, scale=exact_scale(-1.05, 1.05), axis=alt.Axis(tickCount=3))
    tooltip = [alt.Tooltip("what:N"), alt.Tooltip("step:Q", title="time"), alt.Tooltip("value:Q", format=".2f")]
    colour = series_colour("what", names, colours, offset=2)
    layers = [
        named("hidden").mark_rect(**QUIET, color=GREY, opacity=0.16).encode(x, alt.X2("until")),
        named("lines").mark_line(strokeWidth=2).encode(x, y, colour, tooltip=tooltip),
    ]
    return fixed_size(layers, *SERIES_SIZE)
