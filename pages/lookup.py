"""Look up softly: what if a dictionary could almost match?"""

import streamlit as st

from attention_core.attention.types import Role
from attention_core.topics.lookup.soft_lookup import soft_lookup
from ui.export import export_bar
from ui.layout import section, who_asks
from ui.lookup.parts import (
    answers,
    choose_query,
    query_input,
    recall_section,
    regression_section,
    spelling_section,
    sweep_section,
    temperature_input,
)
from ui.lookup.records import record_table
from ui.query_row import query_row
from ui.skeleton import page_frame
from ui.step_view import show_matrix, show_words
from ui.stepper import is_hidden, play_interval, stepper

NAME = "lookup"

page_frame(NAME, "What if a dictionary could almost match? Then it would be attention.")
who_asks("what you type", "the key of every record", "the value of that record")

store, ask = st.columns([1.05, 1], gap="large")
with store:
    section("Records")
    records = record_table(NAME).records
if records is None:
    st.stop()
with ask:
    section("Ask")
    queries = query_input(NAME, records).queries
    temperature = temperature_input(NAME, records)
    if not queries:
        st.stop()
    trace = soft_lookup(records, queries, temperature)
    answers(records, queries, trace)


def explore() -> None:
    """Look at the chosen query from all sides, and step through the look-up."""
    query = choose_query(NAME, trace)
    best = int(trace.weights(0, [query])[0].argmax())
    change, other = st.columns(2, gap="large")
    with change:
        section("From look-up to average")
        sweep_section(records, queries[query], temperature)
    with other:
        if not records.numeric_keys:
            section("When the keys are noisy")
            recall_section(records, temperature)
        elif records.numeric_values:
            section("Attention as regression")
            regression_section(records, queries, trace, query, temperature)
    st.divider()
    section("Step by step")
    step = stepper(trace, NAME)
    if not is_hidden(step, NAME):
        words, matrix = st.columns([0.82, 1], gap="large")
        with words:
            show_words(trace, step, 0, query, best)
        with matrix:
            of_queries = step.row_axis is trace.story.query_axis
            show_matrix(step, 0, query if of_queries else None, NAME)
    st.divider()
    numbers, spelling = st.columns([1.5, 1], gap="large")
    with numbers:
        section("The chosen query", Role.QUERY)
        query_row(trace, 0, query, key_words=records.key_name)
    if not records.numeric_keys:
        with spelling:
            section("How a text becomes a vector")
            spelling_section(queries[query], records.keys[best])
    export_bar(trace, NAME, query=query)


st.divider()
st.fragment(explore, run_every=play_interval(NAME))()
