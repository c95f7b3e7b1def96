"""How functions score every place in the plane, what grows with d_k, and the network inside a learned score."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from torch import Tensor

from attention_core.attention.scores import Additive
from attention_core.attention.types import Role
from attention_core.charts import layers
from attention_core.charts.bars import SERIES
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import grid_layout, long_form
from attention_core.charts.layers import EDGE, QUIET, named, percent_axis, series_colour
from attention_core.charts.network import Node, layers_chart, short
from attention_core.charts.png import palette_png
from attention_core.charts.ramps import DARK_COLOUR, LABEL_COLOUR, ROLE_COLOURS, Ramp
from attention_core.device import to_array
from attention_core.live_training.score_comparison import ScaleRow

FIELD = 160
"""Screen pixels of a field's side."""
BANDS = 17
WITHOUT, WITH = "q · k", "q · k / √dₖ"
TRAINING_SIZE = (280, 155)
COLOUR = series_colour("scores", (WITHOUT, WITH), ("#D55E00", "#0072B2"), offset=2)


def scale_chart(rows: Sequence[ScaleRow], field: str, title: str) -> Chart:
    """Draw one measured quantity over d_k, a line without the division and one with it, under a title.

    The field is variance, which has a logarithmic axis, or gradient.
    """
    data = {"d_k": [row.d_k for row in rows], field: [getattr(row, field) for row in rows]}
    data["scores"] = [WITH if row.scaled else WITHOUT for row in rows]
    axis = alt.Axis(values=[1, 4, 16, 64, 256, 1024], format="d", grid=False)
    scale = alt.Scale(type="log", base=10) if field == "variance" else alt.Scale(zero=True)
    x = alt.X("d_k:Q", title="dₖ", scale=alt.Scale(type="log", base=2), axis=axis)
    y = alt.Y(f"{field}:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4, format="~g"))
    tooltip = [
        alt.Tooltip("scores:N"),
        alt.Tooltip("d_k:Q", title="dₖ"),
        alt.Tooltip(f"{field}:Q", title=title, format=".4g"),
    ]
    line = named("rows", height=300, title=layers.heading(title, fontSize=13))
    line = line.mark_line(point=alt.OverlayMarkDef(size=28), strokeWidth=2)
    return Chart.of(line.encode(x, y, COLOUR.legend(None), tooltip=tooltip), {"rows": data})


def weights_chart(plain: Sequence[float], divided: Sequence[float]) -> Chart:
    """Draw mean weights of keys, the heaviest first, without the division of the scores and with it."""
    keys = [f"{n + 1}" for n in range(len(plain))]
    data = long_form(("scores", "key", "weight"), {WITHOUT: plain, WITH: divided}, keys)
    channels = (
        alt.X("key:N", sort=None, title="keys, heaviest first", axis=alt.Axis(labelAngle=0, ticks=False)),
        percent_axis("weight"),
        alt.XOffset("scores:N", sort=[WITHOUT, WITH]),
        COLOUR,
    )
    tooltip = [alt.Tooltip("scores:N"), alt.Tooltip("key:N"), alt.Tooltip("weight:Q", format=".1%")]
    bars = named("bars", height=190, title=layers.heading("weight", fontSize=13)).mark_bar(cornerRadiusEnd=1)
    return Chart.of(bars.encode(*channels, tooltip=tooltip), {"bars": data})


def training_chart(losses: Mapping[str, Sequence[float]], every: int, limits: tuple[float, float], title: str) -> Chart:
    """Draw errors, each the mean of so many batches, by the name of what is trained, on a logarithmic axis."""
    batches = [every * (index + 1) for index in range(len(next(iter(losses.values()))))]
    data = long_form(("trained", "batch", "error"), losses, batches)
    scale = alt.Scale(type="log", domain=list(limits), nice=False, clamp=True)
    axis = alt.Axis(values=[0.01, 0.03, 0.1, 0.3, 1], format="~g")
    channels = (
        alt.X("batch:Q", title="batches", scale=alt.Scale(domainMin=0), axis=alt.Axis(grid=False, tickCount=4)),
        alt.Y("error:Q", title=None, scale=scale, axis=axis),
        series_colour("trained", list(losses), SERIES[: len(losses)], offset=2),
    )
    tooltip = [
        alt.Tooltip("trained:N"),
        alt.Tooltip("batch:Q", title="batches"),
        alt.Tooltip("error:Q", title="error", format=".3g"),
    ]
    line = named("errors").mark_line(strokeWidth=2).encode(*channels, tooltip=tooltip)
    chart = layers.fixed_size([line], *TRAINING_SIZE, title=layers.heading(title, fontSize=13))
    return Chart.of(chart, {"errors": data})


def score_fields(
    fields: Mapping[str, np.ndarray], query: Sequence[float], keys: Sequence[Sequence[float]], extent: float
) -> Chart:
    """Draw what every scoring function would give a key at every place of the plane from -extent to extent.

    Fields are the scores (n, n) by name of a function, the top row first, in bands whose borders are level lines; each
    has its own scale, for the softmax ignores a constant. The query (2,) is a line, keys (n_keys, 2) are dots.
    """
    frames, width, height = grid_layout(len(fields), 2, FIELD, FIELD, 22, 42)
    scores, urls, ramps = ROLE_COLOURS[Role.SCORES], [], []
    for field in fields.values():
        low, span = float(field.min()), max(float(np.ptp(field)), 1e-9)
        ramps.append(ramp := Ramp((f"{scores}00", scores), low, low + span))
        band = np.floor(ramp.position(field) * (BANDS - 1e-9))
        urls.append(palette_png(band / (BANDS - 1), ramp, 10**6))
    ranges = [
        f"{ramp.low:.3g} to {ramp.high:.3g}".replace("-", "−") if np.ptp(field) else "the same everywhere"
        for field, ramp in zip(fields.values(), ramps, strict=True)
    ]
    spots = FIELD / 2 * (1 + np.array([query, *keys], float) * (1, -1) / extent)
    lefts, tops = (np.add.outer(frames[side], spots[:, axis]) for axis, side in enumerate(("left", "top")))
    lines = {"left": frames["left"] + FIELD / 2, "top": frames["top"] + FIELD / 2}
    lines |= {"right": lefts[:, 0], "bottom": tops[:, 0]}
    dots = {"left": lefts[:, 1:].ravel(), "top": tops[:, 1:].ravel()}
    pictures = {**frames, "url": urls, "name": list(fields), "ends": ranges}
    return Chart(_score_fields(width, height), {"fields": pictures, "lines": lines, "dots": dots})


@compiled
def _score_fields(width: int, height: int) -> alt.LayerChart:
    space = layers.corners(width, height)
    style: dict[str, Any] = {"align": "left", "baseline": "bottom", "color": LABEL_COLOUR}
    dots = named("dots").mark_circle(**QUIET, size=60, opacity=1, color=ROLE_COLOURS[Role.KEY], stroke=DARK_COLOUR)
    drawing = [
        layers.images("fields", space, smooth=True),
        named("fields").mark_rect(**EDGE).encode(**space),
        layers.texts("fields", space, "name", dy=-23, fontSize=15, fontWeight="bold", **style),
        layers.texts("fields", space, "ends", dy=-4, fontSize=13, **style),
        named("lines").mark_rule(**QUIET, color="white", strokeWidth=5.5).encode(**space),
        named("lines").mark_rule(**QUIET, color=ROLE_COLOURS[Role.QUERY], strokeWidth=2.5).encode(**space),
        dots.encode(space["x"], space["y"]),
    ]
    return layers.fixed_size(drawing, width, height)


ROOM = 4  # units below which there is room for what they do


def network_chart(score: Additive, query: Tensor, key: Tensor, key_name: str) -> Chart:
    """Draw the network of two layers that makes one score of a query and a key, (d,) each."""
    sums, weights = score.W_q @ query + score.W_k @ key, np.concatenate([*map(to_array, (score.W_q, score.W_k))], 1)
    inputs = [
        Node(short(number), f"x{position} of {name}", role)
        for name, role, vector in (("q", Role.QUERY, query), (key_name, Role.KEY, key))
        for position, number in enumerate(vector.tolist(), 1)
    ]
    units = [Node(short(math.tanh(number)), f"tanh({short(number)})" * (len(sums) <= ROOM)) for number in sums.tolist()]
    answer = Node(short(float(score.v @ sums.tanh())), "score", Role.SCORES)
    return layers_chart(inputs, weights[..., None], units, score.v.tolist(), answer)
