"""Feature channels as bars: one for each of many, or the few products that a score is the sum of."""

from collections.abc import Sequence

import numpy as np

from attention_core.charts import vega as vl
from attention_core.charts.vega import alt
from attention_core.topics.find import Products

UP, DOWN = "#d98632", "#4a8cba"
"""Above and below 0, as the two sides of the diverging ramp."""


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
) -> vl.Chart:
    """Draw one upright bar per channel, in the order of the channels' numbers from left to right.

    A second value per channel, if there is one, is a tick beside its bar; the chosen channel is marked, and a point
    selection over channels has the field channel.
    """
    places, numbers = np.arange(len(order)), np.asarray(values, float)[list(order)]
    data = {"channel": order, "counted": np.add(order, 1), "value": numbers, "fill": _fill(numbers)}
    data |= {"place": places, "left": places + 0.12, "right": places + 0.88, "end": places + 1}
    told: list[vl.TooltipField] = [("counted:Q", "channel"), ("value:Q", title, ".3g")]
    if beside is not None:
        data["beside"] = np.asarray(beside, float)[list(order)]
        told.append(("beside:Q", beside_title, ".3g"))
        numbers = np.concatenate([numbers, data["beside"]])
    scale = alt.Scale(domain=[numbers.min(initial=0.0), numbers.max(initial=1e-9)], nice=True)
    y = alt.Y("value:Q", title=title, axis=alt.Axis(tickCount=4, titleFontWeight="normal"), scale=scale)
    space = {"x": alt.X("left:Q", axis=None, scale=vl.exact_scale(0, len(order))), "x2": alt.X2("right")}
    layers = [vl.mark("rect", data, {**space, "y": y, "y2": alt.Y2(datum=0)}, color=vl.FILL)]
    if beside is not None:
        layers.append(vl.mark("rule", data, {**space, "y": alt.Y("beside:Q")}, strokeWidth=2, color=vl.GREY))
    column = {"x": alt.X("place:Q"), "x2": alt.X2("end:Q")}
    if chosen is not None:
        here = {"place": places[np.equal(order, chosen)], "end": places[np.equal(order, chosen)] + 1}
        layers.append(vl.mark("rect", here, column, fillOpacity=0.12, fill=vl.CHOSEN, stroke=vl.CHOSEN))
    mouse = vl.hover_cells(data, column, *told, **vl.pointer_style(select))
    return alt.layer(*layers, vl.clickable(mouse, select, "channel"), height=height)


def _fill(values: np.ndarray) -> np.ndarray:
    return np.where(values >= 0, UP, DOWN)


def product_bars(products: Products, n_channels: int, *, height: int = 180) -> vl.Chart:
    """Draw the largest products of one region's score as bars to the right and left, the other channels' last."""
    names = [f"channel {channel + 1}" for channel in products.channels]
    names.append(f"the other {n_channels - len(names)}")
    values = np.array([*products.values.tolist(), products.rest])
    words = [f"{value:+.2f}" for value in values]
    data = {"channel": names, "product": values, "words": words, "fill": _fill(values)}
    low, high = values.min(initial=0.0), values.max(initial=0.0)
    room = 0.28 * (max(high, -low) or 1.0)
    axis = alt.Axis(ticks=False, domain=False, labelLimit=110, labelOverlap=False, labelFlush=False)
    space = {
        "y": alt.Y("channel:N", sort=names, title=None, axis=axis),
        "x": alt.X("product:Q", axis=None, scale=vl.exact_scale(low - (room if low < 0 else 0), high + room)),
    }
    told = "channel:N", ("product:Q", "weight × feature", ".3f")
    small = {"fontSize": 11, "color": vl.GREY, "aria": False}
    bars = vl.mark("bar", data, space, *told, cornerRadiusEnd=1, color=vl.FILL)
    said = {**space, "text": alt.Text("words:N")}
    right = vl.mark("text", data, said, *told, align="left", dx=4, **small).transform_filter("datum.product >= 0")
    left = vl.mark("text", data, said, *told, align="right", dx=-4, **small).transform_filter("datum.product < 0")
    return alt.layer(bars, right, left, height=height)
