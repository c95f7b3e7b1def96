"""What if it looked elsewhere? A region is brushed over, and the mask is changed there."""

from streamlit.delta_generator import DeltaGenerator

from pages.find.first_screen import EDITS, NAME, FindReading
from pages.find.inputs import draw_drawing
from ui.edits import draw_outcome
from ui.region import Region

DIGITS = [str(digit) for digit in range(10)]
REGIONS = Region(NAME, EDITS, "regions")
draw_input = draw_drawing


def answer(inputs: tuple[FindReading, DeltaGenerator]) -> str:
    """Say what the visitor's changes make of the answer."""
    learned, _, edited = inputs[0].probabilities
    return REGIONS.describe(DIGITS, learned, edited)


def draw(inputs: tuple[FindReading, DeltaGenerator]) -> None:
    """Draw the mask, to be brushed over, and the answer before and after."""
    reading, beside = inputs
    with beside:
        outcome = REGIONS.draw(reading.canvas, reading.masks[0], reading.masks[2], reading.trace)
    with outcome:
        draw_outcome(DIGITS, reading.probabilities[0], reading.probabilities[2])
