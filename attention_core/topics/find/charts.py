"""Feature channels as bars: one for each of many, or the few products that a score is the sum of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from attention_core.charts.design import Design, alt
from attention_core.charts.marks import clickable, mouse_cells, pointer, tips
from attention_core.charts.palette import CHOSEN, GREY
from attention_core.charts.scale import from_to
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
) -> Design:
    """Draw one upright bar per channel, in the order of the channels' numbers from left to right.

    Args:
        values: one per channel, signed or not.
        order: numbers of channels.
        title: what a value is.
        beside: a second value per channel, drawn as a tick, or None.
        beside_title: what that is.
        chosen: channel to mark, or None.
        select: name of a point selection over channels (field channel), or None.
        height: screen pixels.
    """
    numbers = [float(values[channel]) for channel in order]
    places = np.arange(len(order))
    frame = pd.DataFrame(
        {
            "place": places,
            "channel": list(order),
            "counted": [channel + 1 for channel in order],
            "value": numbers,
            "zero": 0.0,
        }
    )
    frame["left"], frame["right"] = places + 0.12, places + 0.88
    lines = [("counted:Q", "channel"), ("value:Q", title, ".3g")]
    if beside is not None:
        frame["beside"] = [float(beside[channel]) for channel in order]
        numbers = [*numbers, *frame["beside"]]
        lines.append(("beside:Q", beside_title, ".3g"))
    scale = alt.Scale(domain=[min(0.0, *numbers), max(1e-9, *numbers)], nice=True)
    y = alt.Y("value:Q", title=title, axis=alt.Axis(tickCount=4, titleFontWeight="normal"), scale=scale)
    x = alt.X("left:Q", axis=None, scale=from_to(0, len(order)))
    base = alt.Chart(frame).encode(x=x, x2=alt.X2("right"))
    layers = [base.mark_rect(aria=False).encode(y=y, y2=alt.Y2("zero"), color=_up_or_down("value"))]
    if beside is not None:
        layers.append(base.mark_rule(strokeWidth=2, color=GREY, aria=False).encode(y=alt.Y("beside:Q")))
    column = {"x": alt.X("place:Q"), "x2": alt.X2("end:Q")}
    if chosen is not None:
        colour = CHOSEN
        mark = alt.Chart(frame[frame["channel"] == chosen]).transform_calculate(end="datum.place + 1")
        layers.append(mark.mark_rect(fillOpacity=0.12, fill=colour, stroke=colour, aria=False).encode(**column))
    mouse = mouse_cells(frame, column, *lines, **pointer(select)).transform_calculate(end="datum.place + 1")
    return alt.LayerChart(layer=[*layers, clickable(mouse, select, "channel")], height=height)


def _up_or_down(field: str) -> Any:
    return alt.condition(f"datum.{field} >= 0", alt.value(UP), alt.value(DOWN))


def product_bars(products: Products, n_channels: int, *, height: int = 180) -> Design:
    """Draw the largest products of one region's score as bars to the right and left, the other channels' last."""
    names = [f"channel {channel + 1}" for channel in products.channels]
    rest = REST.format(n_channels - len(names))
    values = [*products.values.tolist(), products.rest]
    frame = pd.DataFrame({"channel": [*names, rest], "product": values, "words": [f"{value:+.2f}" for value in values]})
    reach = max(abs(value) for value in values) or 1.0
    low, high = min(0.0, *values), max(0.0, *values)
    room = 0.28 * reach
    axis = alt.Axis(ticks=False, domain=False, labelLimit=110, labelOverlap=False, labelFlush=False)
    base = alt.Chart(frame).encode(
        y=alt.Y("channel:N", sort=[*names, rest], title=None, axis=axis),
        x=alt.X("product:Q", axis=None, scale=from_to(low - (room if low < 0 else 0), high + room)),
        tooltip=tips("channel:N", ("product:Q", "weight × feature", ".3f")),
    )
    bars = base.mark_bar(cornerRadiusEnd=1).encode(color=_up_or_down("product"))
    small = {"fontSize": 11, "color": GREY, "aria": False}
    words = base.encode(text=alt.Text("words:N"))
    right = words.transform_filter("datum.product >= 0").mark_text(align="left", dx=4, **small)
    left = words.transform_filter("datum.product < 0").mark_text(align="right", dx=-4, **small)
    return alt.LayerChart(layer=[bars, right, left], height=height)
