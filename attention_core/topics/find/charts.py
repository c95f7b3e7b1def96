"""Feature channels as bars, one for each of many."""

from collections.abc import Sequence

import numpy as np

from attention_core.charts import vega as vl

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
    scale = dict(domain=[numbers.min(initial=0.0), numbers.max(initial=1e-9)], nice=True)
    y = vl.field("value:Q", title=title, axis=dict(tickCount=4, titleFontWeight="normal"), scale=scale)
    space = {"x": vl.field("left:Q", axis=None, scale=vl.exact_scale(0, len(order))), "x2": vl.field("right")}
    layers = [vl.mark("rect", data, {**space, "y": y, "y2": vl.field(datum=0)}, color=vl.FILL)]
    if beside is not None:
        layers.append(vl.mark("rule", data, {**space, "y": vl.field("beside:Q")}, strokeWidth=2, color=vl.GREY))
    column = {"x": vl.field("place:Q"), "x2": vl.field("end")}
    if chosen is not None:
        here = {"place": places[np.equal(order, chosen)], "end": places[np.equal(order, chosen)] + 1}
        layers.append(vl.mark("rect", here, column, fillOpacity=0.12, fill=vl.CHOSEN, stroke=vl.CHOSEN))
    mouse = vl.hover_cells(data, column, *told, **vl.pointer_style(select))
    return vl.layer(*layers, vl.clickable(mouse, select, "channel"), height=height)


def _fill(values: np.ndarray) -> np.ndarray:
    return np.where(values >= 0, UP, DOWN)
