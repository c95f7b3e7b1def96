"""Translate and align: what does a decoder look at, word by word?"""

import streamlit as st

from ui.export import export_bar
from ui.layout import who_asks
from ui.skeleton import page_frame
from ui.translate.alignment_errors import alignment_errors_part
from ui.translate.more import collapse_part, learning_part
from ui.translate.parts import list_part, sentence_part, show, slot_part, word_stepper
from ui.translate.state import (
    NAME,
    SLOTS,
    begin,
    focus,
    interval,
    model_in,
    take_changed,
    write_address,
)
from ui.translate.steps import alignment_part, step_part

page_frame(NAME, "What does a decoder look at, word by word? Hover a French word, or click it.")
who_asks("the decoder's state at each French word", "the encoder's state at each English word", "the same states")

begin()
take_changed()


def explore() -> None:
    """Translate the sentence by two models, follow one word through the trace, and change what is said."""
    if take_changed():
        st.rerun()
    typed, answer = st.columns([1, 1.75], gap="large")
    with typed:
        read = sentence_part()
        others = st.container()
    write_address()
    if read is None:
        return
    text, source = read
    by_piece = bool(st.session_state.get(f"{NAME}_by_piece"))
    slots = {slot: show(model_in(slot), text, source, by_piece) for slot in SLOTS}
    models = {slot: shown for slot, shown in slots.items() if shown is not None}
    with answer:
        places = {slot: st.container() for slot in SLOTS}
        row = word_stepper(models) if models else 0
    for slot, place in places.items():
        with place:
            slot_part(slot, slots[slot])
    with others:
        list_part(text)
    if not models:
        return
    shown = models[focus()] if focus() in models else next(iter(models.values()))
    st.divider()
    query = step_part(shown, text, row)
    st.divider()
    alignment_part(models, row)
    export_bar(shown.trace, NAME, query=query)


st.fragment(explore, run_every=interval())()
st.divider()
st.fragment(collapse_part)()
st.divider()
st.fragment(learning_part)()
st.divider()
alignment_errors_part()
