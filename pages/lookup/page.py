"""Look up softly: what if a dictionary could almost match?"""

import streamlit as st

from attention_core.inference.soft_lookup import soft_lookup
from pages.lookup import first_screen as screen
from pages.lookup import table
from pages.lookup.tabs import STEPS, draw_numbers, draw_words, lookup_steps, time_section
from ui.edits import WeightsRow, matrix_editor
from ui.fragments import with_rerun
from ui.layout import attention_roles, last_on_phone
from ui.player import export_bar
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along


def dictionary() -> None:
    """Draw the dictionary, and what stands below it."""
    attention_roles("Here you ask the key of every record, and each hands over a part of its value.")

    last_on_phone("lookup_first", "lookup_preset", "lookup_ways")
    with st.container(key="lookup_first"):
        query_column, record_column = st.columns([1, 1.05], gap="large")
        with query_column:
            preset = table.chosen_table()
            request = table.current_request(preset)
            query = screen.choose_query(request)
            answer = st.container()
            with st.container(horizontal=True, gap="medium", vertical_alignment="bottom", key="lookup_ways"):
                encoders = screen.choose_encoder()
                temperature = table.TEMPERATURE.widget(
                    st.select_slider, "How soft? (high: all alike)", table.TEMPERATURES
                )
            encoder = next(iter(encoders.values()))
            plain = soft_lookup(request.records, request.queries, temperature, encoder)
            trace = plain.replace(table.EDITS.fitting(plain, input_id=request.in_words))
            with answer, st.container(key="tells_lookup"):
                screen.draw_answer(request, trace, query)
            screen.try_second_comparison(request, query, encoders)
            screen.remark_if_nothing_fits(request, trace, query)
        with record_column:
            table.choose_table()
            is_edited = request.is_present and request.text != preset.text
            st.caption("Records of your own." if is_edited else preset.note)
            with st.container(key="tells_records"):
                screen.draw_records(request, trace, query)

    def try_tab() -> None:
        """Draw what can be changed: weights, and the records."""
        weights, outcome = st.columns(2, gap="large")
        with weights:
            row = WeightsRow(table.EDITS, trace, [query], input_id=request.in_words)
            matrix_editor(row, with_rerun(table.QUERY.set))
        with outcome:
            table.show_change(request, plain, trace, query)
            with st.container(key="desk_lookup_records"):
                table.edit_table()

    page_tabs(
        table.NAME,
        Tab("steps", "Step by step", lambda: lookup_steps(trace, query)),
        Tab("try", "Try", try_tab),
        more=(
            Tab("words", "Word by word", lambda: draw_words(request, temperature, query, encoder)),
            Tab("time", "Learned over time", time_section),
            Tab("numbers", "In numbers and letters", lambda: draw_numbers(request, trace, query, encoder)),
        ),
        players=(STEPS,),
    )
    take_along(lambda: export_bar(trace, table.NAME, query=query))


page_frame(table.NAME, "A dictionary that can *almost* match: that is attention.")
page_body(dictionary)
