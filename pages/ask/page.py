"""Ask about a drawing: how does a question choose where to look?"""

import streamlit as st

from pages.ask.first_screen import (
    GLIMPSE,
    MODEL,
    NAME,
    SHOWS_NAMES,
    chain_surprise,
    draw_answer,
    draw_question,
    scene_pad,
)
from pages.ask.inputs import WALK
from pages.ask.numbers import STEPS, chosen_glimpse, draw_numbers, export_glimpse
from ui.computed import model_or_stop
from ui.lecture.mode import LECTURE
from ui.navigation import OPEN_QUESTION
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.take_along import take_along
from ui.try_this import try_this


def _let_it_tell() -> None:
    OPEN_QUESTION[NAME].value = "tell"
    st.rerun()  # the whole page: an experiment has a heading of its own


def question_and_answer() -> None:
    """Draw the open experiment, or a question and its answer, all the numbers, and the page's questions."""
    if draw_experiment(NAME, players=(WALK,)):
        return
    with st.container(key="ask_first"):
        question_area = st.container(horizontal=True, key="ask_line")
        examples_area, scene_area = st.container(horizontal=True, gap="xsmall", key="ask_chips"), st.container()
        with st.container(horizontal=True, gap="small", key="ask_buttons"):
            drawing, is_drawn = scene_pad()
            SHOWS_NAMES.widget(st.toggle, "Name the colours")
        with question_area:
            model_or_stop(MODEL)
            reading, is_read = draw_question(drawing, examples_area)
            try_this(NAME, chain_surprise())
        if not LECTURE.value:  # which lists its screens
            icon, on_click = ":material/chat:", _let_it_tell
            examples_area.button("Describe the drawing", "ask_tell", icon=icon, on_click=on_click)
        with scene_area:
            look, is_present = chosen_glimpse(reading.question), is_read and is_drawn
            answer = draw_answer(drawing, reading, look, GLIMPSE.set, is_empty=not is_drawn, is_present=is_present)
    page_questions(NAME, lambda: draw_numbers(drawing, reading.question, answer), players=(STEPS,))
    take_along(lambda: export_glimpse(drawing, reading.question, answer))


page_frame(NAME, "The question decides where to look.")
page_body(question_and_answer)
