"""Draw a digit: from which pixels does a pixel take?"""

import streamlit as st

from pages.pixels import first_screen as screen
from pages.pixels.drawing import draw_drawing_and_scene
from pages.pixels.inputs import export_reading
from pages.pixels.numbers import draw_numbers
from pages.pixels.ten_digits import draw_ten_digits, train_without
from ui.layout import section
from ui.questions import draw_experiment, page_questions
from ui.skeleton import draw_fragment, page_body, page_frame
from ui.take_along import take_along
from ui.try_this import try_this


def drawing_and_reading() -> None:
    """Draw the open experiment, or ten digits, one's own and what is read in it, all the numbers, and questions."""
    if draw_experiment(screen.NAME):
        return
    draw_fragment(draw_ten_digits)  # whatever becomes of them, the drawing stays
    try_this(screen.NAME, train_without())
    with st.container(key="pixels_own"):  # in a lecture an experiment shows it
        section(screen.pad_heading())
        reading = draw_drawing_and_scene()
    page_questions(screen.NAME, lambda: draw_numbers(reading), players=(screen.STEPS,))
    take_along(lambda: export_reading(reading))


page_frame(screen.NAME, screen.CLAIM)
page_body(drawing_and_reading)
