"""How functions score every place in the plane, what grows with d_k, and the network inside a learned score."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from attention_core.attention.scores import Additive
from attention_core.attention.types import Role
from attention_core.charts import vega as vl
from attention_core.charts.bars import SERIES
from attention_core.charts.heatmap import palette_png
from attention_core.charts.network import Node, layers_chart, short
from attention_core.device import to_array
from attention_core.live_training.score_comparison import ScaleRow

FIELD = 200
"""Screen pixels of a field's side."""
BANDS = 17
WITHOUT, WITH = "q · k", "q · k / √dₖ"
TRAINING_SIZE = (280, 155)
COLOUR = vl.series_colour("scores", (WITHOUT, WITH), ("#D55E00", "#0072B2"), offset=2)


def scale_chart(rows: Sequence[ScaleRow], field: str, title: str) -> vl.Chart:
    """Draw one measured quantity over d_k, a line without the division and one with it, under a title.

    The field is variance, which has a logarithmic axis, or gradient.
    """
    data = {"d_k": [row.d_k for row in rows], field: [getattr(row, field) for row in rows]}
    data["scores"] = [WITH if row.scaled else WITHOUT for row in rows]
    axis = dict(values=[1, 4, 16, 64, 256, 1024], format="d", grid=False)
    scale = dict(type="log", base=10) if field == "variance" else dict(zero=True)
    space = {
        "x": vl.field("d_k:Q", title="dₖ", scale=dict(type="log", base=2), axis=axis),
        "y": vl.field(f"{field}:Q", title=None, scale=scale, axis=dict(tickCount=4, format="~g")),
        "color": COLOUR,
    }
    tooltip = "scores:N", ("d_k:Q", "dₖ"), (f"{field}:Q", title, ".4g")
    line = vl.mark("line", data, space, *tooltip, point={"size": 28}, strokeWidth=2)
    return line.properties(height=300, title=dict(text=title, anchor="start", fontSize=13, fontWeight="normal"))


def weights_chart(plain: Sequence[float], divided: Sequence[float]) -> vl.Chart:
    """Draw one query's weights over the same keys, without the division of its scores and with it."""
    data = vl.long_form(
        ("scores", "key", "weight"), {WITHOUT: plain, WITH: divided}, [f"k{n + 1}" for n in range(len(plain))]
    )
    space = {
        "x": vl.field("key:N", sort=None, title=None, axis=dict(labelAngle=0, ticks=False)),
        "y": vl.percent_axis("weight"),
        "xOffset": vl.field("scores:N", sort=[WITHOUT, WITH]),
        "color": COLOUR,
    }
    bar = vl.mark("bar", data, space, "scores:N", "key:N", ("weight:Q", "", ".1%"), cornerRadiusEnd=1)
    return bar.properties(height=190)


def training_chart(
    losses: Mapping[str, Sequence[float]], every: int, limits: tuple[float, float], title: str
) -> vl.Chart:
    """Draw errors, each the mean of so many batches, by the name of what is trained, on a logarithmic axis."""
    ends = [every * (place + 1) for place in range(len(next(iter(losses.values()))))]
    scale = dict(type="log", domain=list(limits), nice=False, clamp=True)
    space = {
        "x": vl.field("batch:Q", title="batches", scale=dict(domainMin=0), axis=dict(grid=False, tickCount=4)),
        "y": vl.field("error:Q", title=None, scale=scale, axis=dict(values=[0.01, 0.03, 0.1, 0.3, 1], format="~g")),
        "color": vl.series_colour("trained", list(losses), SERIES[: len(losses)], offset=2),
    }
    told = "trained:N", ("batch:Q", "batches"), ("error:Q", "error", ".3g")
    line = vl.mark("line", vl.long_form(("trained", "batch", "error"), losses, ends), space, *told, strokeWidth=2)
    heading = dict(text=title, anchor="start", fontSize=13, fontWeight="normal")
    return vl.fixed_size([line], *TRAINING_SIZE, title=heading)


def score_fields(
    fields: Mapping[str, np.ndarray], query: Sequence[float], keys: Sequence[Sequence[float]], extent: float
) -> vl.Chart:
    """Draw what every scoring function would give a key at every place of the plane from -extent to extent.

    Fields are the scores (n, n) by name of a function, the top row first, in bands whose borders are level lines; each
    has its own scale, for the softmax ignores a constant. The query (2,) is a line, keys (n_keys, 2) are dots.
    """
    places, width, height = vl.grid_layout(len(fields), 2, FIELD, FIELD, 22, 42)
    space = vl.corners(width, height)
    scores, urls, ramps = vl.ROLE_COLOURS[Role.SCORES], [], []
    for field in fields.values():
        low, span = float(field.min()), max(float(np.ptp(field)), 1e-9)
        ramps.append(ramp := vl.Ramp((f"{scores}00", scores), low, low + span))
        band = np.floor(ramp.position(field) * (BANDS - 1e-9))
        urls.append(palette_png(band / (BANDS - 1), ramp, 10**6))
    ends = [f"{ramp.low:.3g} to {ramp.high:.3g}".replace("-", "−") for ramp in ramps]
    ends = [
        "the same everywhere" if not np.ptp(field) else end for field, end in zip(fields.values(), ends, strict=True)
    ]
    frame = {**places, "url": urls, "name": list(fields), "ends": ends}
    spots = FIELD / 2 * (1 + np.array([query, *keys], float) * (1, -1) / extent)
    lefts, tops = (np.add.outer(places[side], spots[:, way]) for way, side in enumerate(("left", "top")))
    lines = {"left": places["left"] + FIELD / 2, "top": places["top"] + FIELD / 2}
    lines |= {"right": lefts[:, 0], "bottom": tops[:, 0]}
    dots = {"left": lefts[:, 1:].ravel(), "top": tops[:, 1:].ravel()}
    words = {"align": "left", "baseline": "bottom"}
    layers = [
        vl.images(frame, space, smooth=True),
        vl.mark("rect", frame, space, **vl.EDGE),
        vl.texts(frame, space, "name", dy=-23, fontSize=15, fontWeight="bold", color=vl.LABEL_COLOUR, **words),
        vl.texts(frame, space, "ends", dy=-4, fontSize=13, color=vl.LABEL_COLOUR, **words),
    ]
    for colour, thick in (("white", 5.5), (vl.ROLE_COLOURS[Role.QUERY], 2.5)):
        layers.append(vl.mark("rule", lines, space, color=colour, strokeWidth=thick))
    middle, style = {"x": space["x"], "y": space["y"]}, {"color": vl.ROLE_COLOURS[Role.KEY], "stroke": vl.DARK_COLOUR}
    return vl.fixed_size([*layers, vl.mark("circle", dots, middle, size=60, opacity=1, **style)], width, height)


ROOM = 4  # units below which there is room for what they do


def network_chart(score: Additive, query: Tensor, key: Tensor, key_name: str) -> vl.Chart:
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
