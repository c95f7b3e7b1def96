"""How functions score every place in the plane, what grows with d_k, and the network inside a learned score."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from torch import Tensor

from attention_core.attention.scores import Additive
from attention_core.attention.types import Role
from attention_core.charts.bars import SERIES
from attention_core.charts.chart import Chart, LayerChart, per_structure
from attention_core.charts.columns import grid_layout, long_form
from attention_core.charts.heatmap import palette_png
from attention_core.charts.layers import (
    EDGE,
    QUIET,
    corners,
    fixed_size,
    images,
    named,
    percent_axis,
    series_colour,
    texts,
)
from attention_core.charts.network import Node, layers_chart, short
from attention_core.charts.ramps import DARK_COLOUR, LABEL_COLOUR, ROLE_COLOURS, Ramp
from attention_core.device import to_array
from attention_core.live_training.score_comparison import ScaleRow

FIELD = 200
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
    return _scale_chart({"rows": data}, field=(field,), title=title)


@per_structure
def _scale_chart(field: tuple[str], title: str) -> alt.Chart:
    (name,) = field
    axis = alt.Axis(values=[1, 4, 16, 64, 256, 1024], format="d", grid=False)
    scale = alt.Scale(type="log", base=10) if name == "variance" else alt.Scale(zero=True)
    x = alt.X("d_k:Q", title="dₖ", scale=alt.Scale(type="log", base=2), axis=axis)
    y = alt.Y(f"{name}:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4, format="~g"))
    told = alt.Tooltip("d_k:Q", title="dₖ"), alt.Tooltip(f"{name}:Q", title=title, format=".4g")
    line = named("rows", height=300, title=_heading(title))
    line = line.mark_line(point=alt.OverlayMarkDef(size=28), strokeWidth=2)
    return line.encode(x, y, COLOUR, tooltip=[alt.Tooltip("scores:N"), *told])


def _heading(text: str) -> alt.TitleParams:
    return alt.TitleParams(text=text, anchor="start", fontSize=13, fontWeight="normal")


def weights_chart(plain: Sequence[float], divided: Sequence[float]) -> Chart:
    """Draw one query's weights over the same keys, without the division of its scores and with it."""
    keys = [f"k{n + 1}" for n in range(len(plain))]
    return _weights_chart({"bars": long_form(("scores", "key", "weight"), {WITHOUT: plain, WITH: divided}, keys)})


@per_structure
def _weights_chart() -> alt.Chart:
    encoded = (
        alt.X("key:N", sort=None, title=None, axis=alt.Axis(labelAngle=0, ticks=False)),
        percent_axis("weight"),
        alt.XOffset("scores:N", sort=[WITHOUT, WITH]),
        COLOUR,
    )
    tooltip = [alt.Tooltip("scores:N"), alt.Tooltip("key:N"), alt.Tooltip("weight:Q", format=".1%")]
    return named("bars", height=190).mark_bar(cornerRadiusEnd=1).encode(*encoded, tooltip=tooltip)


def training_chart(
    losses: Mapping[str, Sequence[float]], every: int, limits: tuple[float, float], title: str
) -> LayerChart:
    """Draw errors, each the mean of so many batches, by the name of what is trained, on a logarithmic axis."""
    ends = [every * (place + 1) for place in range(len(next(iter(losses.values()))))]
    data = long_form(("trained", "batch", "error"), losses, ends)
    colours = [*SERIES[: len(losses)]]
    return _training_chart({"errors": data}, names=list(losses), colours=colours, limits=list(limits), title=title)


@per_structure
def _training_chart(names: list[str], colours: list[str], limits: list[float], title: str) -> alt.LayerChart:
    scale = alt.Scale(type="log", domain=limits, nice=False, clamp=True)
    axis = alt.Axis(values=[0.01, 0.03, 0.1, 0.3, 1], format="~g")
    encoded = (
        alt.X("batch:Q", title="batches", scale=alt.Scale(domainMin=0), axis=alt.Axis(grid=False, tickCount=4)),
        alt.Y("error:Q", title=None, scale=scale, axis=axis),
        series_colour("trained", names, colours, offset=2),
    )
    told = alt.Tooltip("batch:Q", title="batches"), alt.Tooltip("error:Q", title="error", format=".3g")
    line = named("errors").mark_line(strokeWidth=2).encode(*encoded, tooltip=[alt.Tooltip("trained:N"), *told])
    return fixed_size([line], *TRAINING_SIZE, title=_heading(title))


def score_fields(
    fields: Mapping[str, np.ndarray], query: Sequence[float], keys: Sequence[Sequence[float]], extent: float
) -> LayerChart:
    """Draw what every scoring function would give a key at every place of the plane from -extent to extent.

    Fields are the scores (n, n) by name of a function, the top row first, in bands whose borders are level lines; each
    has its own scale, for the softmax ignores a constant. The query (2,) is a line, keys (n_keys, 2) are dots.
    """
    places, width, height = grid_layout(len(fields), 2, FIELD, FIELD, 22, 42)
    scores, urls, ramps = ROLE_COLOURS[Role.SCORES], [], []
    for field in fields.values():
        low, span = float(field.min()), max(float(np.ptp(field)), 1e-9)
        ramps.append(ramp := Ramp((f"{scores}00", scores), low, low + span))
        band = np.floor(ramp.position(field) * (BANDS - 1e-9))
        urls.append(palette_png(band / (BANDS - 1), ramp, 10**6))
    ends = [f"{ramp.low:.3g} to {ramp.high:.3g}".replace("-", "−") for ramp in ramps]
    ends = [
        "the same everywhere" if not np.ptp(field) else end for field, end in zip(fields.values(), ends, strict=True)
    ]
    spots = FIELD / 2 * (1 + np.array([query, *keys], float) * (1, -1) / extent)
    lefts, tops = (np.add.outer(places[side], spots[:, way]) for way, side in enumerate(("left", "top")))
    lines = {"left": places["left"] + FIELD / 2, "top": places["top"] + FIELD / 2}
    lines |= {"right": lefts[:, 0], "bottom": tops[:, 0]}
    dots = {"left": lefts[:, 1:].ravel(), "top": tops[:, 1:].ravel()}
    frame = {**places, "url": urls, "name": list(fields), "ends": ends}
    return _score_fields({"fields": frame, "lines": lines, "dots": dots}, width=width, height=height)


@per_structure
def _score_fields(width: int, height: int) -> alt.LayerChart:
    space = corners(width, height)
    words: dict[str, Any] = {"align": "left", "baseline": "bottom", "color": LABEL_COLOUR}
    dots = named("dots").mark_circle(**QUIET, size=60, opacity=1, color=ROLE_COLOURS[Role.KEY], stroke=DARK_COLOUR)
    layers = [
        images("fields", space, smooth=True),
        named("fields").mark_rect(**EDGE).encode(**space),
        texts("fields", space, "name", dy=-23, fontSize=15, fontWeight="bold", **words),
        texts("fields", space, "ends", dy=-4, fontSize=13, **words),
        named("lines").mark_rule(**QUIET, color="white", strokeWidth=5.5).encode(**space),
        named("lines").mark_rule(**QUIET, color=ROLE_COLOURS[Role.QUERY], strokeWidth=2.5).encode(**space),
        dots.encode(space["x"], space["y"]),
    ]
    return fixed_size(layers, width, height)


ROOM = 4  # units below which there is room for what they do


def network_chart(score: Additive, query: Tensor, key: Tensor, key_name: str) -> LayerChart:
    """Draw the network of two layers that makes one score of a query and a key, (d,) each."""
    sums, weights = score.W_q @ query + score.W_k @ key, np.concatenate([*map(to_array, (score.W_q, score.W_k))], 1)
    inputs = [
        Node(short(one), f"x{place} of {name}", role)
        for name, role, vector in (("q", Role.QUERY, query), (key_name, Role.KEY, key))
        for place, one in enumerate(vector.tolist(), 1)
    ]
    units = [Node(short(math.tanh(one)), f"tanh({short(one)})" * (len(sums) <= ROOM)) for one in sums.tolist()]
    answer = Node(short(float(score.v @ sums.tanh())), "score", Role.SCORES)
    return layers_chart(inputs, weights[..., None], units, score.v.tolist(), answer)
