"""Positions as pictures: matrices over pairs of places by distance, and clock hands that turn."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import pandas as pd
from torch import Tensor

from attention_core.attention.positions import ByDistance
from attention_core.attention.types import Role
from attention_core.charts.layers import fixed
from attention_core.charts.palette import ROLE_COLOURS

LINE = "#1B6CA8"


def distance_chart(found: ByDistance, title: str, *, height: int = 230) -> alt.LayerChart:
    """Draw a dot product over the distance of two positions: its mean, and its range over all such pairs."""
    frame = pd.DataFrame({name: getattr(found, name).tolist() for name in ("distances", "mean", "low", "high")})
    x = alt.X("distances:Q", title="distance j - i", axis=alt.Axis(grid=False, tickCount=9))
    base = alt.Chart(frame).encode(x=x)
    band = base.mark_area(color=LINE, opacity=0.2, aria=False).encode(
        y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q")
    )
    line = base.mark_line(
        color=LINE, strokeWidth=2, point=alt.OverlayMarkDef(size=22) if len(frame) < 99 else False
    ).encode(
        y=alt.Y("mean:Q", title=title, axis=alt.Axis(tickCount=4)),
        tooltip=[
            alt.Tooltip("distances:Q", title="distance"),
            alt.Tooltip("mean:Q", format=".4g"),
            alt.Tooltip("low:Q", title="lowest", format=".4g"),
            alt.Tooltip("high:Q", title="highest", format=".4g"),
        ],
    )
    return alt.layer(band, line).properties(height=height)


def hands_chart(angles: Tensor, pairs: Sequence[int], *, cell: int = 30) -> alt.LayerChart:
    """Draw how far rotary positions turn: one row of hands per pair of numbers, one hand per position.

    Args:
        angles: (n, d / 2) radians.
        pairs: which pairs, from 0; small numbers turn fast.
        cell: screen pixels of one hand.
    """
    turned = angles[:, list(pairs)]
    frame = pd.DataFrame(
        [
            {
                "position": position,
                "pair": f"{pair}",
                "degrees": math.degrees(float(turned[position, row])) % 360,
                "turned": math.degrees(float(turned[position, row])),
            }
            for row, pair in enumerate(pairs)
            for position in range(len(turned))
        ]
    )
    order = [f"{pair}" for pair in pairs]
    hands = (
        alt.Chart(frame)
        .mark_point(shape="arrow", filled=True, color=ROLE_COLOURS[Role.QUERY], opacity=1, size=cell**2 * 0.7)
        .encode(
            x=alt.X("position:O", title="position", axis=alt.Axis(labelAngle=0, ticks=False)),
            y=alt.Y("pair:N", title="pair of numbers", sort=order, axis=alt.Axis(ticks=False)),
            angle=alt.Angle("degrees:Q", scale=alt.Scale(domain=[0, 360], range=[0, 360])),
            tooltip=[
                alt.Tooltip("position:O"),
                alt.Tooltip("pair:N"),
                alt.Tooltip("turned:Q", title="turned by (degrees)", format=".1f"),
            ],
        )
    )
    return fixed([hands], cell * len(turned), cell * len(order))
