"""Look up softly: what are query, key and value?"""

import streamlit as st

from attention_core import Role
from pages.lookup import first_screen as screen
from pages.lookup import table
from pages.lookup.inputs import STEPS, look_up
from pages.lookup.scene import draw_lookup_scene
from ui.player import show_all_numbers
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame


def dictionary() -> None:
    """Draw the open experiment, or the look-up as a scene, all the numbers, and the page's questions."""
    if draw_experiment(table.NAME):
        return
    preset = table.chosen_table()
    request = table.current_request(preset)
    row = st.container(key="lookup_in_a_row", horizontal=True, vertical_alignment="center")
    with row:
        screen.type_query(request)
        table.choose_table()
    query = screen.choose_query(request)
    scene = st.container()
    lookup = look_up(request, query)
    with row:
        screen.try_second_comparison(request, query, lookup.encoders)
    with scene:
        draw_lookup_scene(lookup)

    def draw_numbers() -> None:
        folded = (Role.QUERY, Role.KEY)
        on_query = table.QUERY.set
        show_all_numbers(lookup.trace, STEPS, table.NAME, query=query, on_query=on_query, folds_formula=folded)

    page_questions(table.NAME, draw_numbers, players=(STEPS,))


page_frame(table.NAME, "A dictionary that can *almost* match: that is attention.")
page_body(dictionary)
