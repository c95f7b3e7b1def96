"""Read a number: how does attention move from step to step?"""

import streamlit as st

from pages.read.first_screen import COLUMNS, draw_answer, draw_read_number
from pages.read.inputs import export_reading
from pages.read.numbers import STEPS, WALK, draw_numbers
from pages.read.pad import NAME
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.take_along import take_along


def number_as_read() -> None:
    """Draw the open experiment, or the number and how it is read, all the numbers, and the page's questions."""
    if draw_experiment(NAME, players=(WALK,)):
        return
    with st.container(key="read_first"):
        left, right = st.columns(COLUMNS, gap="large")
        with left:
            changed = draw_read_number()
        with right:
            draw_answer(changed)
    page_questions(NAME, lambda: draw_numbers(changed.present), players=(WALK, STEPS))
    take_along(lambda: export_reading(changed))


page_frame(NAME, "Attention moves: *what the network has seen so far decides where it looks next*.")
page_body(number_as_read)
