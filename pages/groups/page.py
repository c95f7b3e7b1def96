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
    with st.container(key="groups_guests"):  # on a phone the choice of a lock stands below the party
        query = screen.choose_query(numbers)
        party = party_of(numbers, query)
        with st.container(key="groups_party"):
            st.markdown(screen.rule(numbers, query))
            for head, column in zip(screen.HEADS, st.columns(2, gap="medium"), strict=True):
                with column:
                    screen.draw_party(head, party.traces[head], numbers, query)
    try_this(screen.NAME, screen.surprise(numbers, party.traces))
    with st.container(key="desk_groups_numbers"):
        screen.type_numbers()
    page_questions(screen.NAME, lambda: draw_numbers(party), players=(screen.STEPS,))


page_frame(
    screen.NAME,
    "At this party *two* different keys, turned together, open a lock. Attention scores each key alone.",
)
page_body(show_party)
