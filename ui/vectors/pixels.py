"""Three pixels of the digit page as a workbench problem: the same drawing, the same model."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from attention_core.device import to_array
from attention_core.topics.vectors import Problem, pixel_problem, spread_positions

DIGIT = 7
CANVAS_SIDE, PEN = 256, 20
"""As on the digit page when it is opened."""


@dataclass(frozen=True, eq=False)
class DigitPixels:
    """Three pixels.

    Attributes:
        problem: their queries, keys and values, or None when the model is not here.
        positions: of the pixels, in reading order.
        message: what to do when the model is not here.
    """

    problem: Problem | None
    positions: tuple[int, ...] = ()
    message: str = ""


@st.cache_data(max_entries=1, show_spinner="Asking the digit model")
def _digit_layer() -> tuple:
    """Return (query, key, value, ink) of the digit page's model for the digit that it opens on, or a message."""
    from attention_core import load
    from attention_core.data.drawing import prepare
    from attention_core.data.presets import preset_paths
    from attention_core.data.strokes import draw_paths
    from attention_core.weights import WeightsError

    drawing = prepare(draw_paths(preset_paths(DIGIT, CANVAS_SIDE), CANVAS_SIDE, PEN))
    try:
        model = load("pixel-classifier", "cpu")
    except WeightsError as error:
        return (str(error),)
    trace = model.trace(drawing.image)
    trace = trace[0] if isinstance(trace, tuple) else trace
    return (*(to_array(part[0]).astype(float) for part in (trace.query, trace.key, trace.value)), drawing.image)


def digit_pixels() -> DigitPixels:
    """Return the three pixels, spread along the stroke from the top of the digit to its foot."""
    parts = _digit_layer()
    if len(parts) == 1:
        return DigitPixels(None, message=f"The digit model cannot be loaded. {parts[0]}")
    query, key, value, ink = parts
    positions = spread_positions(ink)
    return DigitPixels(pixel_problem(query, key, value, positions), tuple(positions))
