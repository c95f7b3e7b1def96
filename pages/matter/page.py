"""Which words matter: what attention weighs, and what each word does to a judgement."""

import streamlit as st

from pages.matter.first_screen import surprise
from pages.matter.inputs import ATTENTION, NAME, STEPS, draw_sentence
from pages.matter.scene import draw_judged_scene
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
    with st.container(key="matter_in_a_row", horizontal=True, vertical_alignment="bottom"):
        judgement = draw_sentence()
        try_this(NAME, surprise())
    draw_judged_scene(judgement)
    page_questions(NAME, lambda: show_all_numbers(judgement.trace, STEPS, NAME), players=(STEPS,))


page_frame(NAME, "Praise or blame? Attention weighs every word. **Does the heaviest one decide?**")
page_body(judged_sentence)
