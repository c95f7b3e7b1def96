"""Try: brush a region of the drawing and change attention there, for all pixels that ask."""

import streamlit as st

from attention_core.device import to_array
from ui.digits import inked
from ui.edits import show_outcome
from ui.pixels.erase import erase_section
from ui.pixels.first_screen import EDITS, NAME, Reading, attention_received
from ui.region import Region
from ui.state import Field, expander

DIGITS = [str(digit) for digit in range(10)]
ERASES = Field(NAME, "erases", False, address="erases")
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
        hint = "Brush over ink, then let no pixel look there."
        REGION.draw(paper, before, after, reading.trace, hint=hint, size=280, pixels=True, outline=ink)
    with right:
        show_outcome(NAME, DIGITS, reading.learned.probabilities, reading.now.probabilities)
    if (folded := expander("Erase ink instead", ERASES)).open:
        with folded:
            erase_section(reading)
