"""Read a number: how does attention move from step to step?"""

import streamlit as st

from attention_core.faithfulness import subjects
from pages.read import tabs
from pages.read.first_screen import COLUMNS, MODEL, NAME, number_pad
from ui.faithfulness import KeysInPicture, faithfulness_tab
from ui.player import export_bar
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along


def number_as_read() -> None:
    """Draw the number and how it is read, and what stands below."""
    with st.container(key="read_first"):
        left, right = st.columns(COLUMNS, gap="large")
        with left:
            drawing, is_present, pad_area = number_pad()
            changed = tabs.read_changed(drawing)
            with pad_area:
                tabs.draw_looks(drawing, changed)
        with right:
            tabs.draw_answer(drawing, changed, is_present)

    changed_drawing = drawing._replace(reading=changed.reading)
    over = KeysInPicture(drawing.canvas, drawing.reading.trace.story.key_axis.picture_grid, size=380)
    erased = "blocks of nine regions", subjects.reading_subject, drawing.picture
    faithfulness = faithfulness_tab(NAME, MODEL, *erased, over=over)
    page_tabs(
        NAME,
        Tab("film", "Step by step", lambda: tabs.film_section(changed_drawing)),
        Tab("try", "Try", lambda: tabs.change_section(drawing, changed)),
        Tab("question", "Another question", lambda: tabs.question_section(changed_drawing)),
        more=(
            Tab(
                "steps",
                "State, glimpse, state: one look in formulas",
                lambda: tabs.read_steps(changed_drawing),
            ),
            faithfulness,
        ),
        players=(tabs.WALK, tabs.STEPS),
    )
    query = tabs.WALK.field.clamp(0, len(changed_drawing.labels) - 1)
    take_along(lambda: export_bar(changed.reading.trace, NAME, query=query, picture=drawing.canvas))


page_frame(NAME, "Attention moves: *what the network has seen so far decides where it looks next*.")
page_body(number_as_read)
