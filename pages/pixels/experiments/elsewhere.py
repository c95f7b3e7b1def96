"""What if it looked elsewhere? Ink is brushed over, and no pixel attends there."""

import numpy as np

from attention_core.device import to_array
from pages.pixels import first_screen as screen
from pages.pixels.inputs import ReadPad, draw_drawing
from ui.digits import inked
from ui.edits import draw_outcome
from ui.region import Region

BRUSHED_INK = 0.6  # of its darkness, under the map that is brushed over
DIGITS = [str(digit) for digit in range(10)]
REGION = Region(screen.NAME, screen.EDITS, "pixels")
draw_input = draw_drawing


def answer(pad: ReadPad) -> str:
    """Say what the visitor's changes make of the answer."""
    return REGION.describe(DIGITS, *_probabilities(pad))


def draw(pad: ReadPad) -> None:
    """Draw the attention that each pixel receives from all ink, to be brushed over, and how the answer changes."""
    reading = pad.reading
    before, after = (
        to_array(screen.attention_received(answer.traces[0], reading.image))
        for answer in (reading.learned, reading.edited)
    )
    paper = inked(BRUSHED_INK * pad.ink).repeat(4, 0).repeat(4, 1)
    high = screen.MAX_MAP_WEIGHT if reading.trace.has_softmax else None
    with pad.beside:
        outcome = REGION.draw(paper, before, after, reading.trace, pixels=True, high=high)
    with outcome:
        draw_outcome(DIGITS, *_probabilities(pad))


def _probabilities(pad: ReadPad) -> tuple[np.ndarray, np.ndarray]:
    return pad.reading.learned.probabilities, pad.reading.edited.probabilities
