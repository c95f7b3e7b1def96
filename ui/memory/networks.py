"""The two recurrent networks that are compared, how they read, and what each of them remembers of a sentence."""

from dataclasses import replace
from typing import cast

import numpy as np
import streamlit as st

from attention_core.device import to_array
from attention_core.models.translator import Translator
from attention_core.topics.memory.influence import DIRECTIONS, MemoryOverview, gradient_norms, remember
from attention_core.topics.translate.translation import read_source
from ui.computed import cached_computation, model_or_none
from ui.labels import error_markdown
from ui.layout import end_here
from ui.player import LAST_POSITION, Walk
from ui.state import Field, one_of, single_choice

NAME = "memory"
NETWORKS = {"translator-none": "GRU", "translator-plain": "plain RNN"}
READINGS = {"causal": "forwards only", "bidirectional": "forwards and backwards"}
READING = Field(NAME, "reading", "causal", address="reading", parse=one_of(READINGS))
BY_PIECES = Field(NAME, "pieces", False, address="pieces")
WALK = Walk(NAME, first=LAST_POSITION)

_remember = cached_computation(spinner="Reading the sentence", by_model=True)(remember)
_gradient_norms = cached_computation(by_model=True)(gradient_norms)


def recurrent(name: str) -> Translator:
    return cast(Translator, model_or_none(name)[0])


def choose_reading() -> bool:
    """Let a person choose how the sentence is read; return whether it is read backwards too."""
    with st.container(horizontal=True, vertical_alignment="center", key="desk_memory_reading"):
        single_choice("Reading", READING, READINGS, label_visibility="collapsed")
        BY_PIECES.widget(st.toggle, "Piece by piece")
    return READING.value == "bidirectional"


def memories_of(text: str, both: bool) -> dict[str, MemoryOverview]:
    """Return what each network that is there remembers of the sentence, with gradient norms at the end alone.

    Those of the backward reading are left out unless `both` readings are looked at. Says what is missing, and ends the
    part if all is.
    """
    found = {}
    for name, label in NETWORKS.items():
        model, fault = model_or_none(name)
        if model is None:
            st.error(f"**The {label} cannot be loaded.** {error_markdown(fault)}", icon=":material/error:")
        else:
            found[label] = _remember(model, read_source(text), BY_PIECES.value, at_end=True, both=both)
    if not found:
        end_here()
    return found


def with_norms(text: str, both: bool) -> dict[str, MemoryOverview]:
    """Return what each network remembers with the gradient norms of all states, in one or both directions."""
    source, memories = read_source(text), memories_of(text, both)
    word_of = None if BY_PIECES.value else source.word_of

    def norms(name: str, way: str) -> np.ndarray:
        return to_array(_gradient_norms(recurrent(name), source.ids, way, word_of))

    return {
        label: replace(memories[label], norms={way: norms(name, way) for way in DIRECTIONS[: 1 + both]})
        for name, label in NETWORKS.items()
        if label in memories
    }
