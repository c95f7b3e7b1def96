"""Charts of the soft look-up: regression, and what is told of a curve."""

from collections.abc import Mapping

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts import vega as vl


def regression_chart(
    keys: np.ndarray,
    values: np.ndarray,
    curve: tuple[np.ndarray, np.ndarray],
    queries: np.ndarray,
    answers: np.ndarray,
    weights: np.ndarray,
    chosen: int,
    names: tuple[str, str],
    span: tuple[float, float],
) -> vl.Chart:
    """Draw numeric records as large as their weights, what every query would get back, and the chosen query.

    Keys, values and weights are (n,), the weights those of the chosen query; the curve is places along the axis and
    what a query there gets back, (m,) each; queries and answers are (n_queries,). The names are those of a key and of
    a value, the span is the least and the largest number of the axis of keys.
    """
    at = {
        "x": vl.field("key:Q", title=names[0], scale=vl.exact_scale(*span, padding=8), axis=dict(grid=False)),
        "y": vl.field("value:Q", title=names[1], scale=dict(zero=False), axis=dict(tickCount=4, minExtent=44)),
    }
    colour, (key, value) = vl.ROLE_COLOURS[Role.CONTEXT], names
    size = vl.field("weight:Q", scale=dict(range=[14, 320]), legend=None)
    tooltip = ("key:Q", key), ("value:Q", value), ("weight:Q", "", ".3f")
    records = {"key": keys, "value": values, "weight": weights}
    diamonds = {"shape": "diamond", "filled": True, "opacity": 1, "size": 90, "color": colour, "stroke": "white"}
    asked = ("key:Q", "query"), ("value:Q", "comes back", ".4g")
    return vl.layer(
        _dashed("key", float(queries[chosen]), vl.CHOSEN),
        vl.mark("circle", records, at, *tooltip, size=size, opacity=0.85, color=vl.ROLE_COLOURS[Role.WEIGHTS]),
        vl.mark("line", {"key": curve[0], "value": curve[1]}, at, color=colour, strokeWidth=2, clip=True, aria=True),
        vl.mark("point", {"key": queries, "value": answers}, at, *asked, **diamonds),
        height=300,
    )


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


def _dashed(field: str, value: float, colour: str) -> vl.Chart:
    return vl.rule_at("x", field, value, color=colour, strokeWidth=1.5, strokeDash=[4, 3])
