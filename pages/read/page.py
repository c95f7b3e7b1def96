"""Read a number: how does attention move from step to step?"""

import streamlit as st

from pages.read.first_screen import draw_read_number, read_later
from pages.read.inputs import export_reading
from pages.read.numbers import STEPS, WALK, draw_numbers
from pages.read.pad import NAME
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.take_along import take_along
from ui.try_this import try_this


def number_as_read() -> None:
    """Draw the open experiment, or the number and how it is read, all the numbers, and the page's questions."""
    if draw_experiment(NAME, players=(WALK,)):
        return
    surprise = st.container()
    changed = draw_read_number()
    with surprise:
        try_this(NAME, read_later(changed.drawing))
    page_questions(NAME, lambda: draw_numbers(changed.present), players=(WALK, STEPS))
    take_along(lambda: export_reading(changed))


page_frame(NAME, "Attention moves: *what the network has seen so far decides where it looks next*.")
page_body(number_as_read)
