"""Feature channels as bars: one for each of many, or the few products that a score is the sum of."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from attention_core.attention.types import Role
from attention_core.charts.layers import UncheckedLayers, clickable, pointer
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.topics.find import Products

UP, DOWN = "#d98632", "#4a8cba"
"""Above and below 0, as the two sides of the diverging ramp."""
REST = "the other {}"


def channel_bars(
    values: Sequence[float] | np.ndarray,
    order: Sequence[int],
    *,
    title: str,
    beside: Sequence[float] | np.ndarray | None = None,
    beside_title: str = "",
    chosen: int | None = None,
    select: str | None = None,
    height: int = 220,
) -> alt.LayerChart:
    """Draw one upright bar per channel.

    Args:
        values: one per channel, signed or not.
        order: the channels' numbers from left to right.
        title: what a value is.
        beside: a second value per channel, drawn as a tick, or None.
        beside_title: what that is.
        chosen: channel to mark, or None.
        select: name of a point selection over channels (field channel), or None.
        height: screen pixels.
    """
    frame = pd.DataFrame(
        {
            "place": np.arange(len(order)),
            "channel": list(order),
            "value": [float(values[one]) for one in order],
            "zero": 0.0,
        }
    )
    frame["left"], frame["right"] = frame["place"] + 0.12, frame["place"] + 0.88
    x = alt.X("left:Q", axis=None, scale=alt.Scale(domain=[0, len(order)], nice=False))
    shown = [alt.Tooltip("channel:Q"), alt.Tooltip("value:Q", title=title, format=".3g")]
    if beside is not None:
        frame["beside"] = [float(beside[one]) for one in order]
        shown.append(alt.Tooltip("beside:Q", title=beside_title, format=".3g"))
    ends = frame[["value", *(["beside"] if beside is not None else [])]].to_numpy()
    low, high = min(0.0, float(ends.min())), max(0.0, float(ends.max()), 1e-9)
    y = alt.Y(
        "value:Q",
        title=title,
        axis=alt.Axis(tickCount=4, titleFontWeight="normal"),
        scale=alt.Scale(domain=[low, high], nice=True),
    )
    base = alt.Chart(frame).encode(x=x, x2=alt.X2("right"))
    bars = base.mark_rect(aria=False).encode(
        y=y, y2=alt.Y2("zero"), color=alt.condition("datum.value >= 0", alt.value(UP), alt.value(DOWN))
    )
    layers = [bars]
    if beside is not None:
        layers.append(base.mark_rule(strokeWidth=2, color="#8a93a0", aria=False).encode(y=alt.Y("beside:Q")))
    if chosen is not None:
        layers.append(
            alt.Chart(frame[frame["channel"] == chosen])
            .mark_rect(fillOpacity=0.12, fill=ROLE_COLOURS[Role.QUERY], stroke=ROLE_COLOURS[Role.QUERY], aria=False)
            .encode(
                x=alt.X("place:Q"),
                x2=alt.X2("end:Q"),
            )
            .transform_calculate(end="datum.place + 1")
        )
    mouse = (
        alt.Chart(frame)
        .transform_calculate(end="datum.place + 1")
        .mark_rect(opacity=0, **pointer(select))
        .encode(x=alt.X("place:Q"), x2=alt.X2("end:Q"), tooltip=shown)
    )
    return UncheckedLayers(layer=[*layers, clickable(mouse, select, "channel")], height=height)


def product_bars(products: Products, n_channels: int, *, height: int = 180) -> alt.LayerChart:
    """Draw the largest products of a score as bars to the right and to the left, and the sum of the others last.

    Args:
        products: of one region.
        n_channels: how many there are in all.
        height: screen pixels.
    """
    names = [f"channel {one}" for one in products.channels]
    rest = REST.format(n_channels - len(names))
    values = [*products.values.tolist(), products.rest]
    frame = pd.DataFrame({"channel": [*names, rest], "product": values, "words": [f"{one:+.2f}" for one in values]})
    reach = max(abs(one) for one in values) or 1.0
    low, high = min(0.0, *values), max(0.0, *values)
    base = alt.Chart(frame).encode(
        y=alt.Y(
            "channel:N",
            sort=[*names, rest],
            title=None,
            axis=alt.Axis(ticks=False, domain=False, labelLimit=110, labelOverlap=False, labelFlush=False),
        ),
        x=alt.X(
            "product:Q",
            axis=None,
            scale=alt.Scale(domain=[low - (0.28 * reach if low < 0 else 0), high + 0.28 * reach], nice=False),
        ),
        tooltip=[alt.Tooltip("channel:N"), alt.Tooltip("product:Q", title="weight × feature", format=".3f")],
    )
    bars = base.mark_bar(cornerRadiusEnd=1).encode(
        color=alt.condition("datum.product >= 0", alt.value(UP), alt.value(DOWN))
    )
    small = {"fontSize": 11, "color": "#8a93a0", "aria": False}
    right = base.transform_filter("datum.product >= 0").mark_text(align="left", dx=4, **small)
    left = base.transform_filter("datum.product < 0").mark_text(align="right", dx=-4, **small)
    words = alt.Text("words:N")
    return UncheckedLayers(layer=[bars, right.encode(text=words), left.encode(text=words)], height=height)
