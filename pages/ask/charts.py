"""A chart of how the weight of the empty key encodes a count."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import long_form
from attention_core.charts.layers import exact_scale, named, percent_axis, series_colour, texts
from attention_core.charts.ramps import GREY

COLOURS_OF_LOOKS = ["#0072B2", "#CC79A7"]
PARTS = ("empty key and bare paper", "empty key alone")
WORDS = {"fontSize": 11, "color": "#858d98"}


def nothing_weights(counts: Sequence[int], empty: np.ndarray, paper: np.ndarray, answers: Sequence[str]) -> Chart:
    """Draw how the weight of what matches nothing changes with the number of things that match.

    Counts are n rising numbers of things, with the model's answer to each. Empty is the weight of the empty key at
    every look, (n, n_looks), paper that of all regions without ink.
    """
    looks = tuple(f"look {look + 1}" for look in range(empty.shape[1]))
    parts = [
        long_form(("look", "matching", "weight"), dict(zip(looks, weights.T, strict=True)), counts, answer=answers)
        for weights in (empty + paper, empty)
    ]
    data = {name: [*parts[0][name], *parts[1][name]] for name in parts[0]}
    data["part"] = np.repeat(PARTS, len(data["look"]) // 2).tolist()
    texts_above = [f"says {answer}" for answer in answers]
    above = {"matching": counts, "said": texts_above, "weight": [1.0] * len(answers)}
    return Chart(_nothing_weights(looks, tuple(counts)), {"weights": data, "answers": above})


@compiled
def _nothing_weights(looks: tuple[str, ...], counts: tuple[int, ...]) -> alt.LayerChart:
    across = alt.Axis(values=list(counts), format="d", grid=False)
    scale = exact_scale(min(counts) - 0.3, max(counts) + 0.3)
    space = {
        "x": alt.X("matching:Q", title="digits that match", axis=across, scale=scale),
        "y": percent_axis("weight", "weight", 5),
    }
    colour = series_colour("look", looks, COLOURS_OF_LOOKS, labelLimit=220)
    legend = alt.Legend(orient="bottom", title=None, labelLimit=220, symbolType="stroke", symbolStrokeColor=GREY)
    dashes = alt.Scale(domain=[*PARTS], range=[[1, 0], [3, 3]])
    dash = alt.StrokeDash("part:N", sort=[*PARTS], scale=dashes, legend=legend)
    tooltip = [
        alt.Tooltip("matching:Q", title="digits that match"),
        alt.Tooltip("look:N"),
        alt.Tooltip("part:N"),
        alt.Tooltip("weight:Q", format=".1%"),
        alt.Tooltip("answer:N", title="model's answer"),
    ]
    channels: dict[str, Any] = {**space, "color": colour, "tooltip": tooltip}
    layers = [
        named("weights").mark_line(strokeWidth=2).encode(**channels, strokeDash=dash),
        named("weights").mark_point(size=50, filled=True, opacity=1).encode(**channels),
        texts("answers", space, "said", dy=2, **WORDS),
    ]
    return alt.LayerChart(layer=layers, height=250)
