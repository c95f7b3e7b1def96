"""Look up softly: what if a dictionary could almost match?"""

import streamlit as st

from attention_core.topics.lookup.encoders import SPELLING
from attention_core.topics.lookup.soft_lookup import soft_lookup
from ui.layout import attention_roles, end_here, section
from ui.lookup.records import (
    NAME,
    STEPS,
    answers,
    choose_query,
    closer,
    encoder_input,
    in_numbers,
    lookup_steps,
    query_input,
    record_table,
    temperature_input,
)
from ui.player import export_bar
from ui.skeleton import Tab, page_frame, page_tabs

page_frame(NAME, "What if a dictionary could almost match? Then it would be attention.")
attention_roles(
    "what you type",
    "the key of every record",
    "the value of that record",
    here="Here you ask, every record is asked, and its value comes back in part.",
    try_this="Take <i>Ask a text</i>: “automobile” finds the car. Then choose <i>spelling</i>: it finds baked bread.",
    meanwhile={"table": "ask-a-text"},
)

store, ask = st.columns([1.05, 1], gap="large")
with store:
    section("Records")
    records = record_table().records
if records is None:
    end_here()
with ask:
    section("Ask")
    queries = query_input(records).queries
    warm, way = (st.container(), None) if records.numeric_keys else st.columns([1.6, 1], gap="medium")
    with warm:
        temperature = temperature_input(records)
    encoder = SPELLING if way is None else encoder_input(way)
    if not queries:
        end_here()
    trace = soft_lookup(records, queries, temperature, encoder)
    with st.container(key="tells_lookup"):
        answers(records, queries, trace)

page_tabs(
    NAME,
    Tab("closer", "A closer look", lambda: closer(records, queries, trace, temperature, encoder)),
    Tab("steps", "Step by step", lambda: lookup_steps(trace)),
    Tab("numbers", "In numbers and letters", lambda: in_numbers(records, queries, trace, encoder)),
    Tab("take", "Take it along", lambda: export_bar(trace, NAME, query=choose_query(trace))),
    players=(STEPS,),
)
