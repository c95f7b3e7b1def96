"""All the numbers, from a photograph to its answer."""

from typing import Any

import numpy as np
import streamlit as st

from attention_core.attention.types import Step
from attention_core.charts.overlay import image_png, spot_of_light
from attention_core.device import to_array
from pages.photograph.reading import NAME, PhotoReading
from ui.chart import draw_layers
from ui.player import Stepper, StepStyle, export_bar, show_all_numbers

STEPS = Stepper(NAME, first="weights")
MAP_SIDE, SPOT_SIDE = 420, 420
MAX_DIMENSIONS = 24  # of keys, values and contexts that are drawn: those of keys that differ most


def pixels_of(reading: PhotoReading) -> np.ndarray:
    """Return the photograph as the network sees it, uint8 (height, width, 3)."""
    return (255 * to_array(reading.photo.picture)).round().astype(np.uint8).transpose(1, 2, 0)


def draw_spot(reading: PhotoReading, key: str, about: str) -> None:
    """Draw the photograph, lit where a word looks."""
    weights = to_array(reading.trace.weights()[0]).reshape(reading.photo.grid)
    layers = [image_png(spot_of_light(pixels_of(reading), weights, 0 if st.context.theme.type == "dark" else 255))]
    options: Any = {"size": SPOT_SIDE, "axis": "regions", "tooltip": "weight {}%", "smooth": True}
    draw_layers(layers, 100 * weights, key, about, **options)


def draw_numbers(reading: PhotoReading) -> None:
    """Draw the steps."""
    trace, region = reading.trace, int(reading.trace.weights(0, [0])[0].argmax())
    dimensions = np.sort(np.argsort(-to_array(reading.photo.features.std(0)))[:MAX_DIMENSIONS]).tolist()

    def style_of(step: Step) -> StepStyle:
        is_wide = step.col_axis is not trace.story.key_axis and step.shape[1] > MAX_DIMENSIONS
        if step.name == "weights":
            return StepStyle(column=region, over=pixels_of(reading), size=MAP_SIDE)
        return StepStyle(column_indices=dimensions) if is_wide else StepStyle(column=region)

    show_all_numbers(trace, STEPS, NAME, style_of=style_of, key=region)


def export_reading(reading: PhotoReading) -> None:
    """Offer the weights, over the photograph."""
    export_bar(reading.trace, NAME, query=0, picture=pixels_of(reading))
