"""What one changes in an experiment of the page: the photograph and the word."""

import streamlit as st

from pages.photograph.first_screen import draw_photographs, draw_question
from pages.photograph.numbers import export_reading
from pages.photograph.reading import MODEL, PhotoReading, learned_and_edited
from ui.computed import model_or_stop
from ui.take_along import take_along


def draw_photo_and_query() -> tuple[PhotoReading, PhotoReading]:
    """Draw the photographs and the word; return what is brought back, as learned and with the visitor's edits."""
    with st.container(key="experiment_input"):
        draw_photographs()
        with st.container(horizontal=True, key="photograph_line"):
            draw_question()
    model_or_stop(MODEL)
    readings = learned_and_edited()
    take_along(lambda: export_reading(readings[1]))
    return readings
