"""Each scoring function as a coloured field over all key positions, side by side."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

import numpy as np

from attention_core.charts.palette import BLUE_ORANGE, Ramp
from ui.component import component

BANDS = 17
"""Colour bands: their borders are level lines, which show a field's shape better than a smooth ramp."""

_component = component("score_fields")


def score_fields(
    name: str,
    fields: Mapping[str, np.ndarray],
    shapes: Mapping[str, str],
    query: Sequence[float],
    keys: Sequence[Sequence[float]],
    *,
    extent: float,
    shared_scale: bool = False,
) -> None:
    """Draw the fields; blue = low, orange = high, pale = the middle of the field's own range.

    The softmax ignores a constant, so that the middle need not be 0.

    Args:
        name: prefix of its state.
        fields: function -> float (n, n), row 0 at the top.
        shapes: function -> a few words on the field's shape.
        query: its two numbers.
        keys: two numbers each.
        extent: the fields run from -extent to extent.
        shared_scale: one colour scale for all, else each its own.
    """
    middles = {function: (field.max() + field.min()) / 2 for function, field in fields.items()}
    reaches = {function: float(np.ptp(field)) / 2 for function, field in fields.items()}
    panels = []
    for function, field in fields.items():
        reach = max(reaches.values()) if shared_scale else reaches[function]
        low, high = middles[function] - max(reach, 1e-9), middles[function] + max(reach, 1e-9)
        index = np.rint(Ramp(BLUE_ORANGE, low, high).position(field) * 255).astype(np.uint8)
        panels.append(
            {
                "name": function,
                "field": base64.b64encode(index.tobytes()).decode(),
                "low": _short(low),
                "high": _short(high),
                "shape": shapes[function],
            }
        )
    _component(
        key=f"{name}_fields",
        data={
            "panels": panels,
            "n": len(next(iter(fields.values()))),
            "colours": _COLOURS,
            "query": list(query),
            "keys": [list(key) for key in keys],
            "extent": extent,
        },
    )


def _short(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _banded_colours() -> str:
    colours = Ramp(BLUE_ORANGE, 0, 1).lookup(BANDS)
    band = np.minimum(np.arange(256) * BANDS // 256, BANDS - 1)
    return base64.b64encode(colours[band].tobytes()).decode()


_COLOURS = _banded_colours()
