"""Look up softly: what if a dictionary could almost match?"""

import streamlit as st

from attention_core.inference.soft_lookup import soft_lookup
from pages.lookup import first_screen as screen
from pages.lookup import table
from pages.lookup.tabs import STEPS, in_numbers, lookup_steps, time_section, word_by_word
from ui.layout import attention_roles, last_on_phone
from ui.player import export_bar
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along


def dictionary() -> None:
    """Draw the dictionary, and what stands below it."""
    attention_roles("Here you ask the key of every record, and each hands over a part of its value.")

    last_on_phone("lookup_first", "lookup_preset", "lookup_ways")
    with st.container(key="lookup_first"):
        ask, store = st.columns([1, 1.05], gap="large")
        with ask:
            preset = table.chosen_table()
            asked = table.current_request(preset)
            query = screen.query_part(asked)
            place = st.container()
            with st.container(horizontal=True, gap="medium", vertical_alignment="bottom", key="lookup_ways"):
                ways = screen.encoder_input()
                temperature = table.TEMPERATURE.widget(
                    st.select_slider, "How soft? (high: all alike)", table.TEMPERATURES
                )
            encoder = next(iter(ways.values()))
            plain = soft_lookup(asked.records, asked.queries, temperature, encoder)
            trace = plain.replace(table.EDITS.fitting(plain, of=asked.in_words))
            with place, st.container(key="tells_lookup"):
                screen.answer(asked, trace, query)
            screen.try_the_other_way(asked, query, ways)
            screen.remark_on_nothing_near(asked, trace, query)
        with store:
            table.choose_table()
            is_own = asked.is_present and asked.text != preset.text
            st.caption("Records of your own." if is_own else preset.note)
            with st.container(key="tells_records"):
                screen.record_list(asked, trace, query)

    def try_tab() -> None:
        """Draw what can be changed: weights, and the records."""
        weights, outcome = st.columns(2, gap="large")
        with weights:
            table.change_weights(asked, trace, query)
        with outcome:
            table.show_change(asked, plain, trace, query)
            with st.container(key="desk_lookup_records"):
                table.edit_table()

    page_tabs(
        table.NAME,
        Tab("steps", "Step by step", lambda: lookup_steps(trace, query)),
        Tab("try", "Try", try_tab),
        more=(
            Tab("words", "Word by word", lambda: word_by_word(asked, temperature, query, encoder)),
            Tab("time", "Learned over time", time_section),
            Tab("numbers", "In numbers and letters", lambda: in_numbers(asked, trace, query, encoder)),
        ),
        players=(STEPS,),
    )
    take_along(lambda: export_bar(trace, table.NAME, query=query))


page_frame(table.NAME, "A dictionary that can *almost* match: that is attention.")
page_body(dictionary)
