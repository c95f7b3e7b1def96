"""Read a number: how does attention move from step to step?"""

import streamlit as st

from pages.read import tabs
from pages.read.first_screen import COLUMNS, NAME, number_pad
from pages.read.tabs import read_doubts
from ui.player import export_bar
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along


def number_as_read() -> None:
    """Draw the number and how it is read, and what stands below."""
    with st.container(key="read_first"):
        left, right = st.columns(COLUMNS, gap="large")
        with left:
            drawing, is_present, place = number_pad()
            now = tabs.read_now(drawing)
            with place:
                tabs.looks_chart(drawing, now)
        with right:
            tabs.answer(drawing, now, is_present)

    shown = drawing._replace(reading=now.reading)
    page_tabs(
        NAME,
        Tab("film", "Step by step", lambda: tabs.look_by_look(shown)),
        Tab("try", "Try", lambda: tabs.change_section(drawing, now), formerly=("start",)),
        Tab("question", "Another question", lambda: tabs.another_question(shown)),
        more=(
            Tab(
                "steps",
                "State, glimpse, state: one look in formulas",
                lambda: tabs.read_steps(shown),
                formerly=("state",),
            ),
            read_doubts(drawing),
        ),
        players=(tabs.WALK, tabs.STEPS),
    )
    take_along(lambda: export_bar(now.reading.trace, NAME, query=tabs.present_look(shown), picture=drawing.canvas))


page_frame(NAME, "Attention moves: *what the network has seen so far decides where it looks next*.")
page_body(number_as_read)
