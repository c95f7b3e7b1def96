"""Translate and align: what does a decoder look at, word by word?"""

import streamlit as st

from pages.translate import first_screen as screen
from pages.translate.forcing import WORD, forced_french_note
from pages.translate.numbers import draw_numbers
from ui.player import export_bar
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.take_along import take_along
from ui.translators import NAME
from ui.try_this import try_this


def translations() -> None:
    """Draw the open experiment, or two translations, all their numbers, and the page's questions."""
    if draw_experiment(NAME, players=(screen.STEPS,)):
        return
    with st.container(key="translate_in_a_row", horizontal=True, vertical_alignment="bottom"):
        text = screen.sentence_input()
        try_this(NAME, screen.crossed_out_word())
    with st.container(key="translate_pair"):
        if models := screen.compare_two_models(text):
            traced, row = screen.stepped_model(models), WORD.value
            forced_french_note(text, traced)
    if models:
        take_along(lambda: export_bar(traced.trace, NAME, query=traced.view.first_piece[row]))
    page_questions(NAME, (lambda: draw_numbers(traced, row)) if models else None, players=(screen.STEPS,))


page_frame(
    NAME,
    "Without attention a network keeps **one vector** of a sentence. With **attention** it looks back at every word.",
)
page_body(translations)
