"""Beyond pairs: what can attention over pairs not do, and what can three?"""

import streamlit as st

from attention_core.data.match3 import MODULUS
from pages.groups import first_screen as screen
from pages.groups.inputs import party_of
from pages.groups.numbers import draw_numbers
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame


def show_party() -> None:
    """Draw the open experiment, or the party, all its numbers, and the page's questions."""
    if draw_experiment(screen.NAME):
        return
    numbers = screen.guest_numbers()
    query = screen.clamp_query(numbers)
    party = party_of(numbers, query)
    with st.container(key="groups_party"):
        screen.draw_party(party.traces, numbers, query)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="desk_groups_numbers"):
        screen.choose_query(numbers)
        st.button("Invite eight new guests", key="groups_invite", on_click=screen.invite_guests)
        screen.type_numbers()
    page_questions(screen.NAME, lambda: draw_numbers(party), players=(screen.STEPS,))


page_frame(
    screen.NAME,
    "Attention tries **one key** at a time. A lock here opens for **two**: with its own number they add up to a "
    f"multiple of {MODULUS}.",
)
page_body(show_party)
