"""A query and keys in the plane, how functions score every place in it, and what grows with d_k."""

from collections.abc import Mapping, Sequence

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts import vega as vl
from attention_core.charts.heatmap import palette_png
from attention_core.topics.scoring.compare import ScaleRow

FIELD = 168
"""Screen pixels of a field's side."""
WITHOUT, WITH = "q · k", "q · k / √dₖ"
COLOUR = vl.series_colour("scores", (WITHOUT, WITH), ("#D55E00", "#0072B2"), offset=2)


def scale_chart(
    rows: Sequence[ScaleRow],
    field: str,
    title: str,
    *,
    chosen: int | None = None,
) -> vl.Chart:
    """Draw one measured quantity over d_k, a line without the division and one with it, under a title.

    The field is variance, which has a logarithmic axis, or gradient; a d_k can be marked.

    Raises:
        ValueError: no such field.
    """
    if field not in ("variance", "gradient"):
        raise ValueError(f"field must be variance or gradient, got {field!r}")
    data = {"d_k": [row.d_k for row in rows], field: [getattr(row, field) for row in rows]}
    data["scores"] = [WITH if row.scaled else WITHOUT for row in rows]
    axis = dict(values=[1, 4, 16, 64, 256, 1024], format="d", grid=False)
    scale = dict(type="log", base=10) if field == "variance" else dict(zero=True)
    space = {
        "x": vl.field("d_k:Q", title="dₖ", scale=dict(type="log", base=2), axis=axis),
        "y": vl.field(f"{field}:Q", title=None, scale=scale, axis=dict(tickCount=4, format="~g")),
        "color": COLOUR,
    }
    told = "scores:N", ("d_k:Q", "dₖ"), (f"{field}:Q", title, ".4g")
    layers = [vl.mark("line", data, space, *told, point={"size": 28}, strokeWidth=2)]
    if chosen is not None:
        layers.append(vl.rule_at("x", "d_k", chosen, color=vl.GREY, opacity=0.6))
    return vl.layer(*layers, height=228, title=dict(text=title, anchor="start", fontSize=13, fontWeight="normal"))


def sorted_weights_chart(without: Sequence[float], with_scale: Sequence[float]) -> vl.Chart:
    """Draw one query's weights over its keys, largest first, without the division and with it."""
    series = {WITHOUT: without, WITH: with_scale}
    data = vl.long_form(("scores", "rank", "weight"), series, range(1, len(without) + 1))
    space = {
        "x": vl.field("rank:O", title="keys, largest weight first", axis=dict(labelAngle=0, labelOverlap=True)),
        "xOffset": vl.field("scores:N", sort=[WITHOUT, WITH]),
        "y": vl.percent_axis("weight", "weight"),
        "color": COLOUR,
    }
    return vl.mark("bar", data, space, "scores:N", "rank:O", ("weight:Q", "", ".4f")).properties(height=190)


def vector_plane(query: Sequence[float], keys: Sequence[Sequence[float]], extent: float) -> vl.Chart:
    """Draw a query and keys (n_keys, 2) as arrows from the middle, whose sides are so far from it."""
    vectors = np.array([query, *keys], float)
    colours = [vl.ROLE_COLOURS[Role.QUERY], *[vl.ROLE_COLOURS[Role.KEY]] * len(keys)]
    names = ["q", *(f"k{place}" for place in range(1, len(vectors)))]
    lengths = np.maximum(np.hypot(*vectors.T), 1e-9)
    beyond = vectors + 0.08 * extent * vectors / lengths[:, None]
    turned = np.degrees(np.arctan2(*vectors.T))
    arrows = {"x0": [0.0] * len(names), "y0": [0.0] * len(names), "x1": vectors[:, 0], "y1": vectors[:, 1]}
    arrows |= {"fill": colours, "angle": turned, "x2": beyond[:, 0], "y2": beyond[:, 1], "text": names}
    sides = {"scale": vl.exact_scale(-extent, extent), "axis": dict(title=None, tickCount=8)}
    starts = {"x": vl.field("x0:Q", **sides), "y": vl.field("y0:Q", **sides)}
    from_middle = {**starts, "x2": vl.field("x1"), "y2": vl.field("y1")}
    ends, beyond_ends = ({"x": vl.field(f"x{place}:Q"), "y": vl.field(f"y{place}:Q")} for place in (1, 2))
    angle, head = vl.field("angle:Q", scale=None), {"shape": "triangle", "filled": True, "size": 130, "opacity": 1}
    layers = [
        vl.mark("rule", arrows, from_middle, color=vl.FILL, strokeWidth=3),
        vl.mark("point", arrows, ends, color=vl.FILL, angle=angle, **head),
        vl.texts(arrows, beyond_ends, fontSize=14, color=vl.DARK_COLOUR),
    ]
    return vl.fixed_size(layers, 420, 420)


def score_fields(
    fields: Mapping[str, np.ndarray],
    ramps: Sequence[vl.Ramp],
    query: Sequence[float],
    keys: Sequence[Sequence[float]],
    extent: float,
    *,
    bands: int = 17,
) -> vl.Chart:
    """Draw what every scoring function would give a key at every place of the plane from -extent to extent.

    Fields are the scores (n, n) by name of a function, the top row first, each with its ramp, in bands of one colour
    whose borders are level lines. The query (2,) is a line, keys (n_keys, 2) are dots.
    """
    places, width, height = vl.grid_layout(len(fields), 4, FIELD, FIELD, 22, 42)
    space = vl.corners(width, height)
    urls = []
    for field, ramp in zip(fields.values(), ramps, strict=True):
        band = np.floor(ramp.position(field) * (bands - 1e-9))
        urls.append(palette_png(band / (bands - 1), ramp, 10**6))
    ends = [f"{ramp.low:.3g} to {ramp.high:.3g}".replace("-", "−") for ramp in ramps]
    frame = {**places, "url": urls, "name": list(fields), "ends": ends}
    vectors = np.array([query, *keys], float)
    spots = FIELD / 2 * (1 + vectors * (1, -1) / extent)
    lefts, tops = (np.add.outer(places[side], spots[:, way]) for way, side in enumerate(("left", "top")))
    lines = {"left": places["left"] + FIELD / 2, "top": places["top"] + FIELD / 2}
    lines |= {"right": lefts[:, 0], "bottom": tops[:, 0]}
    dots = {"left": lefts[:, 1:].ravel(), "top": tops[:, 1:].ravel()}
    words = {"align": "left", "baseline": "bottom"}
    layers = [
        vl.images(frame, space, smooth=True),
        vl.texts(frame, space, "name", dy=-18, fontSize=12, color=vl.DARK_COLOUR, **words),
        vl.texts(frame, space, "ends", dy=-4, fontSize=10, color=vl.LABEL_COLOUR, **words),
    ]
    for colour, thick in (("white", 5.5), (vl.ROLE_COLOURS[Role.QUERY], 2.5)):
        layers.append(vl.mark("rule", lines, space, color=colour, strokeWidth=thick))
    middle, look = {"x": space["x"], "y": space["y"]}, {"color": vl.ROLE_COLOURS[Role.KEY], "stroke": vl.DARK_COLOUR}
    return vl.fixed_size([*layers, vl.mark("circle", dots, middle, size=60, opacity=1, **look)], width, height)
