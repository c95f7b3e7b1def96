"""What one changes in an experiment of the page: the number, and the look that is shown."""

from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from attention_core.device import to_array
from attention_core.inference.number_reading import ReadDrawing
from attention_core.models.digit_reader import DigitReading
from pages.read.changes import ChangedReading, read_changed
from pages.read.numbers import WALK
from pages.read.pad import NAME, number_pad
from ui.chart import draw_map
from ui.lecture.mode import LECTURE
from ui.player import export_bar
from ui.take_along import take_along

MAP_WIDTH, HALL_WIDTH = 576, 1240  # screen pixels of a drawing under a map: as wide as the pad, or as a hall's screen
FADED_INK = 0.45  # of its darkness, under a map: pink is seen on it


class PresentLook(NamedTuple):
    """A drawing as it is read now, and the look that is shown, from 0."""

    drawing: ReadDrawing
    look: int


def draw_number() -> ChangedReading:
    """Draw the pad; return how its number is read."""
    with st.container(key="experiment_input"):
        changed = read_changed(number_pad()[0])
    take_along(lambda: export_reading(changed))
    return changed


def draw_look() -> PresentLook:
    """Draw the pad, and the controls that go from look to look."""
    drawing = draw_number().present
    return PresentLook(drawing, WALK.draw(drawing.labels, (0, len(drawing.labels) - 1)))


def export_reading(changed: ChangedReading) -> None:
    """Offer all looks, over the drawing."""
    query = WALK.field.clamp(0, len(changed.present.labels) - 1)
    export_bar(changed.reading.trace, NAME, query=query, picture=changed.drawing.canvas)


def maps_of(reading: DigitReading) -> np.ndarray:
    """Return the weights of every look as a picture, float (n_looks, rows, columns)."""
    return to_array(reading.trace.weights()).reshape(-1, *reading.trace.story.key_axis.picture_grid)


def draw_present_map(present: PresentLook, key: str, **choice: Any) -> None:
    """Draw where the present look goes, over the drawing, in the colours of all looks."""
    maps, alt = maps_of(present.drawing.reading), "The chosen look: where it goes, over the drawing; click a region"
    canvas, high, size = present.drawing.canvas, float(maps.max()), HALL_WIDTH if LECTURE.value else MAP_WIDTH
    paper = np.median(canvas, (0, 1))
    faded = (paper + FADED_INK * (canvas - paper)).astype(np.uint8)
    draw_map(maps[present.look], faded, key, alt, size=size, high=high, smooth=False, **choice)
