"""What one changes in an experiment of the page: the digit and its clutter."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.find import first_screen as screen
from ui.canvas import columns_beside_pad
from ui.player import export_bar
from ui.take_along import take_along


def draw_drawing() -> tuple[screen.FindReading, DeltaGenerator]:
    """Draw the pad; return what is read on it, and the container beside it."""
    pad_column, beside = columns_beside_pad()
    with pad_column:
        reading, _, remark = screen.read_pad(screen.draw_digit_pad())
        if remark:
            st.info(remark)
    take_along(lambda: export_reading(reading))
    return reading, beside


def export_reading(reading: screen.FindReading) -> None:
    """Offer the mask, over the drawing."""
    export_bar(reading.trace, screen.NAME, query=0, picture=reading.canvas)
