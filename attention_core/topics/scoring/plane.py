"""A plane with a query and keys as arrows, and how several scoring functions score every place in it."""

from collections.abc import Mapping, Sequence

import numpy as np

from attention_core.attention.types import Role
from attention_core.charts.design import ChartTemplate, alt
from attention_core.charts.layers import corners, fixed, sheet
from attention_core.charts.marks import FILL, images, mark, texts
from attention_core.charts.palette import DARK, LABELS, ROLE_COLOURS, Ramp
from attention_core.charts.raster import palette_url
from attention_core.charts.scale import from_to

FIELD = 168
"""Screen pixels of a field's side."""


def vector_plane(query: Sequence[float], keys: Sequence[Sequence[float]], extent: float) -> ChartTemplate:
    """Draw a query and keys (n_keys, 2) as arrows from the middle, whose sides are so far from it."""
    vectors = np.array([query, *keys], float)
    colours = [ROLE_COLOURS[Role.QUERY], *[ROLE_COLOURS[Role.KEY]] * len(keys)]
    names = ["q", *(f"k{place}" for place in range(1, len(vectors)))]
    lengths = np.maximum(np.hypot(*vectors.T), 1e-9)
    beyond = vectors + 0.08 * extent * vectors / lengths[:, None]
    turned = np.degrees(np.arctan2(*vectors.T))
    arrows = {"x0": [0.0] * len(names), "y0": [0.0] * len(names), "x1": vectors[:, 0], "y1": vectors[:, 1]}
    arrows |= {"fill": colours, "angle": turned, "x2": beyond[:, 0], "y2": beyond[:, 1], "text": names}
    sides = {"scale": from_to(-extent, extent), "axis": alt.Axis(title=None, tickCount=8)}
    from_middle = {"x": alt.X("x0:Q", **sides), "y": alt.Y("y0:Q", **sides), "x2": alt.X2("x1"), "y2": alt.Y2("y1")}
    ends, beyond_ends = ({"x": alt.X(f"x{place}:Q"), "y": alt.Y(f"y{place}:Q")} for place in (1, 2))
    angle, head = alt.Angle("angle:Q", scale=None), {"shape": "triangle", "filled": True, "size": 130, "opacity": 1}
    layers = [
        mark("rule", arrows, from_middle, color=FILL, strokeWidth=3),
        mark("point", arrows, ends, color=FILL, angle=angle, **head),
        texts(arrows, beyond_ends, fontSize=14, color=DARK),
    ]
    return fixed(layers, 420, 420)


def score_fields(
    fields: Mapping[str, np.ndarray],
    ramps: Sequence[Ramp],
    query: Sequence[float],
    keys: Sequence[Sequence[float]],
    extent: float,
    *,
    bands: int = 17,
) -> ChartTemplate:
    """Draw what every scoring function would give a key at every place of the plane from -extent to extent.

    Fields are the scores (n, n) by name of a function, the top row first, each with its ramp, in bands of one colour
    whose borders are level lines. The query (2,) is a line, keys (n_keys, 2) are dots.
    """
    places, width, height = sheet(len(fields), 4, FIELD, FIELD, 22, 42)
    space = corners(width, height)
    urls = []
    for field, ramp in zip(fields.values(), ramps, strict=True):
        band = np.floor(ramp.position(field) * (bands - 1e-9))
        urls.append(palette_url(band / (bands - 1), ramp, 10**6))
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
        images(frame, space, smooth=True),
        texts(frame, space, "name", dy=-18, fontSize=12, color=DARK, **words),
        texts(frame, space, "ends", dy=-4, fontSize=10, color=LABELS, **words),
    ]
    for colour, thick in (("white", 5.5), (ROLE_COLOURS[Role.QUERY], 2.5)):
        layers.append(mark("rule", lines, space, color=colour, strokeWidth=thick))
    middle, look = {"x": space["x"], "y": space["y"]}, {"color": ROLE_COLOURS[Role.KEY], "stroke": DARK}
    return fixed([*layers, mark("circle", dots, middle, size=60, opacity=1, **look)], width, height)
