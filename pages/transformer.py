"""Inside a transformer: what is left when the recurrence goes?"""

import streamlit as st

from attention_core.data.sentence_presets import LAYERED
from attention_core.models.transformer import TransformerConfig
from attention_core.topics.translate.translation import read_source
from ui.export import export_bar
from ui.layout import section
from ui.models import model_or_none
from ui.sentence import sentence_box
from ui.skeleton import page_frame
from ui.stepper import play_interval
from ui.transformer.cost import cost_section
from ui.transformer.parts import (
    choice_part,
    heads_part,
    large_part,
    numbers_part,
    off_part,
    source_part,
    steps_part,
    translation_part,
    words_part,
)
from ui.transformer.positions import positions_section
from ui.transformer.shuffling import shuffle_section
from ui.transformer.state import MODEL, NAME, begin, chosen_query, look_at, notes, traces, write_address

page_frame(
    NAME,
    "What is left when the recurrence goes? Attention alone, many heads of it, and a note of where each word stands.",
)
model, missing = model_or_none(MODEL)
config = TransformerConfig()
begin()

typed, answer = st.columns([1.15, 1], gap="large")
with typed:
    text = sentence_box(NAME, LAYERED, height=68)
with answer:
    section("In French")
    if model is None:
        st.error(f"**The transformer cannot be loaded.** {missing}", icon=":material/error:")
    elif text:
        translation_part(look_at(text))
if text and model is not None:
    with typed:
        source_part(look_at(text))


def explore(text: str) -> None:
    """Look at all heads, at one of them, at one query of it; step through it; switch heads off."""
    head = choice_part(config.n_layers, config.n_heads)
    look = look_at(text)
    trace = traces(look)[head.kind, head.layer]
    write_address()
    every, one = st.columns([1.1, 1], gap="medium")
    with every:
        heads_part(look, head)
        numbers_part(trace, head, chosen_query(trace))
    with one:
        large_part(trace, head, notes(look, head.kind)[head.layer][head.head], head in look.off)
    query = words_part(look, trace, head)
    st.divider()
    steps_part(trace, head, query)
    st.divider()
    off_part(look, head)
    export_bar(trace, NAME, head=head.head, query=query)


if text and model is not None:
    st.fragment(explore, run_every=play_interval(NAME))(text)
    st.divider()
    st.fragment(shuffle_section)(text)
st.divider()
st.fragment(positions_section)(config.d_model)
st.divider()
st.fragment(cost_section)(len(read_source(text).ids) if text else 12)
