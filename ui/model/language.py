"""Sections for language models: what they expect behind a mask, or a text that they write on."""

from __future__ import annotations

import streamlit as st

from attention_core.attention.types import Role
from attention_core.charts.bars import bars
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.hub.language import expected, predicts_words
from attention_core.hub.model import Kind, ModelError
from attention_core.hub.run import ModelRun
from ui.labels import distinct
from ui.layout import section
from ui.model.cache_part import kv_cache
from ui.model.chips import Chip, chips, chosen_chip
from ui.model.expectations import hidden_logits, hidden_place, rest_words
from ui.model.generation_part import N_EXPECTED, generation
from ui.runs.runs import ModelInput, pretrained_of

__all__ = ["generation", "hidden_word", "kv_cache", "next_tokens"]


def next_tokens(run: ModelRun, key: str, given: ModelInput, name: str) -> None:
    """Draw what suits the model: a text to write on, the word it expects behind a mask, or that it has no such head.

    Args:
        run: what is on the page now.
        key: of the model.
        given: its input.
        name: prefix of the section's state, which is the page's.
    """
    pretrained = pretrained_of(key)
    if not predicts_words(pretrained):
        section("What it expects")
        st.info(f"{pretrained.name} has no head that expects words: its last layer is what it hands out.")
    elif pretrained.kind is Kind.ENCODER:
        hidden_word(run, key, given, name)
    else:
        generation(run, key, given, name)


@st.fragment
def hidden_word(run: ModelRun, key: str, given: ModelInput, name: str) -> None:
    """Draw what a masked-language model expects at one position of its input."""
    section("What it expects")
    st.markdown("Choose a token: it is hidden behind a mask, and the model says what should stand there.")
    state = f"{name}_hidden_word"
    place = hidden_place(run, key, given, st.session_state.get(state))

    def choose_word() -> None:
        st.session_state[state] = chosen_chip(state)

    left, right = st.columns([1.1, 1], gap="large")
    with left:
        grey = ROLE_COLOURS[Role.OUTPUT]
        shown = [Chip(text, 0, "click to hide it", grey) for text in run.tokens]
        chips(state, shown, chosen=place, label="The input", hint="Click a token to hide it.", on_choose=choose_word)
    with right:
        try:
            found = expected(hidden_logits(run, key, given, place), pretrained_of(key).tokenizer, n=N_EXPECTED)
        except ModelError as error:
            st.info(str(error))
            return
        st.altair_chart(
            bars(
                [one.probability for one in found.likeliest],
                distinct([one.text for one in found.likeliest]),
                title="probability",
                colour=ROLE_COLOURS[Role.OUTPUT],
                height=26 * len(found.likeliest),
            ),
            key=f"{state}_bars",
            alt="The tokens that the model expects at the hidden place",
        )
        st.caption(rest_words(found))
