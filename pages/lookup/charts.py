"""The chart of what is told of a curve."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from attention_core.attention.types import Role
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import long_form
from attention_core.charts.layers import QUIET, exact_scale, fixed_size, named, series_colour
from attention_core.charts.ramps import GREY, ROLE_COLOURS

SERIES_SIZE = (430, 125)
SERIES_COLOURS = (GREY, ROLE_COLOURS[Role.CONTEXT], "#0072B2", "#009E73")


def series_chart(curve: np.ndarray, answers: Mapping[str, np.ndarray], queries: range) -> Chart:
    """Draw a curve (n,) from -1 to 1, shaded where it is hidden, and the answers there, each (n_queries,)."""
    last = len(curve) - 1
    lines = long_form(("what", "step", "value"), {"drawn": curve})
    for name, values in answers.items():
        line = long_form(("what", "step", "value"), {name: values}, list(queries))
        lines = {column: [*lines[column], *line[column]] for column in lines}
    hidden = {"step": [max(queries[0] - 0.5, 0)], "until": [min(queries[-1] + 0.5, last)]}
    return Chart(_series_chart(last, ("drawn", *answers)), {"lines": lines, "hidden": hidden})


@compiled
def _series_chart(last: int, names: tuple[str, ...]) -> alt.LayerChart:
    x = alt.X("step:Q", title="time", scale=exact_scale(0, last), axis=alt.Axis(grid=False, tickCount=6))
    y = alt.Y("value:Q", title=None, scale=exact_scale(-1.05, 1.05), axis=alt.Axis(tickCount=3))
    tooltip = [alt.Tooltip("what:N"), alt.Tooltip("step:Q", title="time"), alt.Tooltip("value:Q", format=".2f")]
    colour = series_colour("what", names, SERIES_COLOURS[: len(names)], offset=2)
    layers = [
        named("hidden").mark_rect(**QUIET, color=GREY, opacity=0.16).encode(x, alt.X2("until")),
        named("lines").mark_line(strokeWidth=2).encode(x, y, colour, tooltip=tooltip),
    ]
    return fixed_size(layers, *SERIES_SIZE)
