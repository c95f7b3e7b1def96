"""What a recurrent network forgets: why was attention needed?"""

import streamlit as st

from pages.memory import first_screen as screen
from pages.memory.look_back import FRENCH_WALK, look_back, why_missing
from pages.memory.numbers import draw_numbers
from ui.layout import last_on_phone
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.try_this import try_this


def draw_networks() -> None:
    """Draw the open experiment, or what both networks keep, all the numbers, and the page's questions."""
    if draw_experiment(screen.NAME, players=(FRENCH_WALK,)):
        return
    with st.container(key="desk_memory_sentence"):
        text = screen.read_sentence()
    screen.report_missing_network()
    last_on_phone("memory_screen", "memory_short", "memory_wide", "memory_told")
    pair = list(dict.fromkeys((screen.shorter(text), text)))
    with st.container(key="memory_screen"):
        short, long = st.columns([1, 1.55], gap="large")
        with short:
            with st.container(key="memory_short"):
                for sentence in pair[:-1]:
                    screen.draw_readings(sentence, pair)
            screen.draw_lengths(text)
        with long:
            with st.container(key="memory_long"):
                screen.draw_readings(text, pair)
            with st.container(key="memory_told"):
                if not why_missing():
                    try_this(screen.NAME, look_back(text))
    page_questions(screen.NAME, lambda: draw_numbers(text), players=(screen.WALK,))


page_frame(
    screen.NAME,
    "A recurrent network keeps **one vector**. It cannot go back to an earlier word. Attention can.",
)
page_body(draw_networks)
