"""Try: brush a region of the drawing and change attention there, for all pixels that ask."""

import streamlit as st

from attention_core.device import to_array
from ui.digits import inked
from ui.edits import show_outcome
from ui.pixels.first_screen import EDITS, NAME, Reading, attention_received
from ui.region import Region

DIGITS = [str(digit) for digit in range(10)]
REGION = Region(NAME, EDITS, "pixels", copies=DIGITS)


def change_section(reading: Reading) -> None:
    """Draw what all ink takes from each pixel, to be brushed over, and what the answer becomes."""
    ink = reading.drawing.image
    before, after = (
        to_array(attention_received(answer.traces[0], reading.image)) for answer in (reading.learned, reading.now)
    )
    left, right = st.columns([1.65, 1], gap="large")
    with left:
        paper = inked(0.6 * ink).repeat(4, 0).repeat(4, 1)
        REGION.draw(paper, before, after, size=280, pixels=True, outline=ink)
    with right:
        EDITS.draw(reading.trace, hint="Brush over ink, then let no pixel look there.")
        show_outcome(NAME, DIGITS, reading.learned.probabilities, reading.now.probabilities)
