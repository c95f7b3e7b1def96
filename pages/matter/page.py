"""Which words matter: what attention weighs, and what each word does to a judgement."""

import streamlit as st

from pages.matter import first_screen as screen
from pages.matter.inputs import ATTENTION, NAME, STEPS, draw_sentence
from ui.computed import model_or_stop
from ui.player import show_all_numbers
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.try_this import try_this


def judged_sentence() -> None:
    """Draw the open experiment, or how a sentence is judged, all the numbers, and the page's questions."""
    model_or_stop(ATTENTION)
    if draw_experiment(NAME):
        return
    with st.container(key="matter_first"):
        input_column, answer_column = st.columns([1.15, 1], gap="medium")
        with input_column:
            judgement = draw_sentence()
        with answer_column:
            with st.container(key="matter_answer"):
                screen.draw_verdict(judgement)
            screen.draw_comparison(judgement)
            try_this(NAME, screen.surprise())
        screen.draw_words(judgement)
    page_questions(NAME, lambda: show_all_numbers(judgement.trace, STEPS, NAME), players=(STEPS,))


page_frame(NAME, "Is it praise or blame? The word that gets the most attention is not always the one that decides.")
page_body(judged_sentence)
