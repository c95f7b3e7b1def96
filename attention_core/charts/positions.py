"""Positions as pictures: matrices over pairs of places by distance, and clock hands that turn."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from torch import Tensor

from attention_core.attention.positions import ByDistance
from attention_core.attention.types import Role
from attention_core.charts.design import Design, alt
from attention_core.charts.layers import fixed
from attention_core.charts.marks import tips
from attention_core.charts.palette import ROLE_COLOURS

LINE = "#1B6CA8"


def distance_chart(found: ByDistance, title: str, *, height: int = 230) -> Design:
    """Draw a dot product over the distance of two positions: its mean, and its range over all such pairs."""
    frame = pd.DataFrame({name: getattr(found, name).tolist() for name in ("distances", "mean", "low", "high")})
    x = alt.X("distances:Q", title="distance j - i", axis=alt.Axis(grid=False, tickCount=9))
    base = alt.Chart(frame).encode(x=x)
    band = base.mark_area(color=LINE, opacity=0.2, aria=False)
    dots = alt.OverlayMarkDef(size=22) if len(frame) < 99 else False
    line = base.mark_line(color=LINE, strokeWidth=2, point=dots).encode(
        y=alt.Y("mean:Q", title=title, axis=alt.Axis(tickCount=4)),
        tooltip=tips(
            ("distances:Q", "distance"),
            ("mean:Q", "", ".4g"),
            ("low:Q", "lowest", ".4g"),
            ("high:Q", "highest", ".4g"),
        ),
    )
    return alt.layer(band.encode(y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q")), line, height=height)


def hands_chart(angles: Tensor, pairs: Sequence[int], *, cell: int = 30) -> Design:
    """Draw how far rotary positions turn: one row of hands per pair of numbers, one hand per position.

    Angles are (n, d / 2) radians; pairs are counted from 0, and small numbers turn fast.
    """
    turned = [[math.degrees(float(angle)) for angle in row] for row in angles[:, list(pairs)].T]
    order = [str(pair) for pair in pairs]
    frame = pd.DataFrame(
        {"position": position, "pair": pair, "degrees": degrees % 360, "turned": degrees}
        for pair, row in zip(order, turned, strict=True)
        for position, degrees in enumerate(row)
    )
    arrows = {"shape": "arrow", "filled": True, "opacity": 1, "size": cell**2 * 0.7}
    hands = alt.Chart(frame).mark_point(color=ROLE_COLOURS[Role.QUERY], **arrows)
    hands = hands.encode(
        x=alt.X("position:O", title="position", axis=alt.Axis(labelAngle=0, ticks=False)),
        y=alt.Y("pair:N", title="pair of numbers", sort=order, axis=alt.Axis(ticks=False)),
        angle=alt.Angle("degrees:Q", scale=alt.Scale(domain=[0, 360], range=[0, 360])),
        tooltip=tips("position:O", "pair:N", ("turned:Q", "turned by (degrees)", ".1f")),
    )
    return fixed([hands], cell * len(angles), cell * len(order))
