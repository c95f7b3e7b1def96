"""A chart of how the weight of the empty key encodes a count."""

from collections.abc import Sequence

import numpy as np

from attention_core.charts import vega as vl

COLOURS_OF_LOOKS = ["#0072B2", "#CC79A7"]
PARTS = ("empty key and bare paper", "empty key alone")
WORDS = {"fontSize": 11, "color": "#858d98"}


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
    tooltip = ("matching:Q", "digits that match"), "look:N", "part:N", share, answer
    answers = {"matching": counts, "said": [f"says {one}" for one in said], "weight": [1.0] * len(said)}
    layers = [
        vl.mark("line", data, space, *tooltip, color=colour, strokeDash=dash, strokeWidth=2),
        vl.mark("point", data, space, *tooltip, color=colour, size=50, filled=True, opacity=1),
        vl.texts(answers, space, "said", dy=2, **WORDS),
    ]
    return vl.layer(*layers, height=250)
