"""Feature channels as bars, one for each of many."""

from collections.abc import Sequence

import numpy as np

from attention_core.charts import vega as vl


def channel_bars(
    values: np.ndarray, order: Sequence[int] | np.ndarray, *, title: str, beside: np.ndarray | None = None
) -> vl.Chart:
    """Draw one upright bar per channel, in the order of the channels' numbers from left to right.

    A second value per channel, a plain average, is a tick beside its bar.
    """
    places, numbers = np.arange(len(order)), np.asarray(values, float)[list(order)]
    data = {"counted": np.add(order, 1), "value": numbers, "fill": np.where(numbers >= 0, vl.UP, vl.DOWN)}
    data |= {"place": places, "left": places + 0.12, "right": places + 0.88, "end": places + 1}
    tooltip: list[vl.TooltipField] = [("counted:Q", "channel"), ("value:Q", title, ".3g")]
    if beside is not None:
        data["beside"] = np.asarray(beside, float)[list(order)]
        tooltip.append(("beside:Q", "plain average", ".3g"))
        numbers = np.concatenate([numbers, data["beside"]])
    scale = dict(domain=[numbers.min(initial=0.0), numbers.max(initial=1e-9)], nice=True)
    y = vl.field("value:Q", title=title, axis=dict(tickCount=4, titleFontWeight="normal"), scale=scale)
    space = {"x": vl.field("left:Q", axis=None, scale=vl.exact_scale(0, len(order))), "x2": vl.field("right")}
    layers = [vl.mark("rect", data, {**space, "y": y, "y2": vl.field(datum=0)}, color=vl.FILL)]
    if beside is not None:
        layers.append(vl.mark("rule", data, {**space, "y": vl.field("beside:Q")}, strokeWidth=2, color=vl.GREY))
    column = {"x": vl.field("place:Q"), "x2": vl.field("end")}
    return vl.layer(*layers, vl.hover_cells(data, column, *tooltip, **vl.pointer_style(None)), height=300)
