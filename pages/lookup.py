"""Look up softly: what if a dictionary could almost match?"""

import streamlit as st

from attention_core.topics.lookup.soft_lookup import soft_lookup
from ui.first_screen import last_on_phone
from ui.layout import attention_roles
from ui.lookup.first_screen import (
    answer,
    encoder_input,
    query_part,
    record_list,
    remark_on_nothing_near,
    try_the_other_way,
)
from ui.lookup.sections import STEPS, in_numbers, lookup_steps, word_by_word
from ui.lookup.series import time_section
from ui.lookup.table import (
    EDITS,
    NAME,
    TEMPERATURE,
    TEMPERATURES,
    change_weights,
    choose_table,
    chosen_table,
    current_request,
    edit_table,
    show_change,
)
from ui.player import export_bar
from ui.skeleton import Tab, page_frame, page_tabs
from ui.take_along import take_along

page_frame(NAME, "A dictionary that can *almost* match: that is attention.")
attention_roles(
    "what you type",
    "the key of every record",
    "the value of that record",
    here="Here you ask, and each record hands over a part of its value.",
)

last_on_phone("lookup_first", "lookup_preset", "lookup_ways")
with st.container(key="lookup_first"):
    ask, store = st.columns([1, 1.05], gap="large")
    with ask:
        preset = chosen_table()
        asked = current_request(preset)
        query = query_part(asked)
        place = st.container()
        with st.container(horizontal=True, gap="medium", vertical_alignment="bottom", key="lookup_ways"):
            ways = encoder_input()
            temperature = TEMPERATURE.widget(st.select_slider, "Temperature (high: all alike)", TEMPERATURES)
        encoder = next(iter(ways.values()))
        plain = soft_lookup(asked.records, asked.queries, temperature, encoder)
        trace = plain.replace(EDITS.fitting(plain, of=asked.in_words))
        with place, st.container(key="tells_lookup"):
            answer(asked, trace, query)
        try_the_other_way(preset, asked, query, ways)
        remark_on_nothing_near(asked, trace, query)
    with store:
        choose_table()
        st.caption(preset.note)
        with st.container(key="tells_records"):
            record_list(asked, trace, query)


def try_tab() -> None:
    """Draw what can be changed: weights, and the records."""
    weights, outcome = st.columns(2, gap="large")
    with weights:
        change_weights(asked, trace, query)
    with outcome:
        show_change(asked, plain, trace, query)
        with st.container(key="desk_lookup_records"):
            edit_table(asked)


page_tabs(
    NAME,
    Tab("steps", "Step by step", lambda: lookup_steps(trace, query)),
    Tab("try", "Try", try_tab),
    more=(
        Tab("words", "Word by word", lambda: word_by_word(asked, temperature, query, encoder)),
        Tab("time", "Learned over time", time_section),
        Tab("numbers", "In numbers and letters", lambda: in_numbers(asked, trace, query, encoder)),
    ),
    players=(STEPS,),
)
take_along(lambda: export_bar(trace, NAME, query=query))
