"""What if it looked elsewhere? A region is brushed over, and the weights are changed there."""

import numpy as np
import streamlit as st

from attention_core.device import to_array
from attention_core.inference.photographs import photo_names
from pages.photograph.inputs import draw_photo_and_query
from pages.photograph.numbers import pixels_of
from pages.photograph.reading import EDITS, NAME, VALUE, PhotoReading
from ui.edits import draw_outcome
from ui.region import Region

REGIONS = Region(NAME, EDITS, "regions")
N_CLASSES = 8


def draw_input() -> tuple[PhotoReading, PhotoReading]:
    """Draw the photograph and the word; return what is brought back, as learned and with the visitor's edits."""
    VALUE.reset()
    return draw_photo_and_query()


def answer(readings: tuple[PhotoReading, PhotoReading]) -> str:
    """Say what the visitor's changes make of the answer."""
    return REGIONS.describe(*_likeliest(readings))


def draw(readings: tuple[PhotoReading, PhotoReading]) -> None:
    """Draw the weights, to be brushed over, and the answer before and after."""
    grid, traces = readings[0].photo.grid, [reading.trace for reading in readings]
    before, after = (to_array(trace.weights()[0]).reshape(grid) for trace in traces)
    with REGIONS.draw(pixels_of(readings[0]), before, after, traces[1]), st.container():
        draw_outcome(*_likeliest(readings))


def _likeliest(readings: tuple[PhotoReading, PhotoReading]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the classes that are likeliest before or after, and their probabilities."""
    before, after = (reading.answer for reading in readings)
    rows = np.argsort(-np.maximum(before, after))[:N_CLASSES]
    return [photo_names()[row] for row in rows], before[rows], after[rows]
