"""Can one vector hold a sentence of any length? Encoder states of n words, and their weighted sum."""

from typing import NamedTuple

import streamlit as st

from attention_core.data.pieces import MAX_WORDS, english_words
from attention_core.device import to_array
from attention_core.inference.encoder_states import Collapse, collapse
from pages.translate.inputs import draw_sentence
from pages.translate.numbers import draw_weighted_sum
from ui.computed import cached_computation, model_or_stop
from ui.layout import figures_table
from ui.state import Field, between
from ui.translators import NAME

_collapsed = cached_computation(on_cluster=True)(collapse)
N_STATES = Field(NAME, "n", 8, address="n", parse=between(1, MAX_WORDS))


class States(NamedTuple):
    """The encoder's states of n words, and their weighted sum."""

    n: int
    is_repeated: bool  # whether the sentence has fewer words
    collapsed: Collapse
    d_output: int


def draw_input() -> States:
    """Draw the sentence, and how many words are taken of it."""
    text = draw_sentence()
    model = model_or_stop("translator-dot")
    n = N_STATES.widget(st.slider, "Words of the source, n", 1, MAX_WORDS)
    return States(n, n > len(english_words(text)), _collapsed(model, text, n), model.config.d_embedding)


def answer(states: States) -> str:
    """Say that the vector is as long for n words as for one."""
    d = states.collapsed.states.shape[1]
    return f"It stays as small: {states.n} words become {d} numbers, like one word."


def draw(states: States) -> None:
    """Draw the states, their weighted sum, and what it would cost to lay them end to end instead."""
    collapsed, n = states.collapsed, states.n
    picture, numbers = st.columns([1.1, 1], gap="large")
    with picture:
        vectors, weights, context = map(to_array, (collapsed.states, collapsed.weights, collapsed.context))
        description = f"{len(collapsed.words)} encoder states and their weighted sum"
        draw_weighted_sum(collapsed.words, vectors, weights, context, description)
        if states.is_repeated:
            st.caption("Where the sentence ends, it begins again.")
    with numbers:
        d, d_output = collapsed.states.shape[1], states.d_output
        vector, read_out = f"{d:,}", f"{2 * d * d_output:,}"  # the read-out takes the decoder's state, too
        figures_table(
            ("", "attention", "added", "end to end"),
            ("numbers handed over", vector, vector, f"{n * d:,}"),
            ("parameters of the read-out", read_out, read_out, f"{(1 + n) * d * d_output:,}"),
        )
        st.caption("Added, no word counts more; end to end, states fit one length.")
