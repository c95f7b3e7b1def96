"""Beyond pairs: why only pairs, and what can three do?"""

import streamlit as st

from pages.groups import first_screen as screen
from pages.groups.inputs import party_of
from pages.groups.numbers import draw_numbers
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.try_this import try_this


def show_party() -> None:
    """Draw the open experiment, or the party, all its numbers, and the page's questions."""
    if draw_experiment(screen.NAME):
        return
    numbers = screen.guest_numbers()
    query = screen.clamp_query(numbers)
    party = party_of(numbers, query)
    with st.container(key="groups_party"):
        st.markdown(screen.rule(numbers, query))
        screen.draw_party(party.traces, numbers, query)
    try_this(screen.NAME, screen.surprise(numbers, party.traces))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="desk_groups_numbers"):
        screen.choose_query(numbers)
        screen.type_numbers()
    page_questions(screen.NAME, lambda: draw_numbers(party), players=(screen.STEPS,))


page_frame(
    screen.NAME,
    "At this party *two* keys, turned together, open a lock. One layer of attention scores each key alone.",
)
page_body(show_party)
