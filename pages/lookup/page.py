"""Look up softly: what if a dictionary could almost match?"""

import streamlit as st

from attention_core import Role
from pages.lookup import first_screen as screen
from pages.lookup import table
from pages.lookup.inputs import STEPS, look_up
from ui.layout import attention_roles, last_on_phone
from ui.player import show_all_numbers
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame


def dictionary() -> None:
    """Draw the open experiment, or the dictionary, all the numbers, and the page's questions."""
    if draw_experiment(table.NAME):
        return
    attention_roles("Here you ask the key of every record, and each hands over a part of its value.")

    last_on_phone("lookup_first", "lookup_preset", "lookup_ways")
    with st.container(key="lookup_first"):
        query_column, record_column = st.columns([1, 1.05], gap="large")
        with query_column:
            preset = table.chosen_table()
            request = table.current_request(preset)
            query = screen.choose_query(request)
            answer = st.container()
            lookup = look_up(request, query)
            with answer, st.container(key="tells_lookup"):
                screen.draw_answer(request, lookup.trace, query)
            screen.try_second_comparison(request, query, lookup.encoders)
            screen.remark_if_nothing_fits(request, lookup.trace, query)
        with record_column:
            table.choose_table()
            is_edited = request.is_present and request.text != preset.text
            st.caption("Records of your own." if is_edited else preset.note)
            with st.container(key="tells_records"):
                screen.draw_records(request, lookup.trace, query)

    def draw_numbers() -> None:
        folded = (Role.QUERY, Role.KEY)
        on_query = table.QUERY.set
        show_all_numbers(lookup.trace, STEPS, table.NAME, query=query, on_query=on_query, folds_formula=folded)

    page_questions(table.NAME, draw_numbers, players=(STEPS,))


page_frame(table.NAME, "A dictionary that can *almost* match: that is attention.")
page_body(dictionary)
