"""The two recurrent networks that are compared, and how they read a sentence."""

from typing import cast

import streamlit as st

from attention_core.models.translator import Translator
from ui.computed import model_or_none
from ui.labels import error_markdown
from ui.layout import end_here
from ui.player import LAST_POSITION, Walk
from ui.state import Field, one_of, single_choice

NAME = "memory"
NETWORKS = {"translator-none": "GRU", "translator-plain": "plain RNN"}
READINGS = {"causal": "forwards only", "bidirectional": "forwards and backwards"}
READING = Field(NAME, "reading", "causal", address="reading", parse=one_of(READINGS))
WALK = Walk(NAME, first=LAST_POSITION)


def recurrent(name: str) -> Translator:
    return cast(Translator, model_or_none(name)[0])


def choose_reading() -> bool:
    """Let a person choose how the sentence is read; return whether it is read backwards too."""
    with st.container(key="desk_memory_reading"):
        single_choice("Reading", READING, READINGS, label_visibility="collapsed")
    return READING.value == "bidirectional"


def networks() -> dict[str, Translator]:
    """Return the networks that are there by what they are called; say what is missing, and end the part if all is."""
    found = {}
    for name, label in NETWORKS.items():
        model, fault = model_or_none(name)
        if model is None:
            st.error(f"**The {label} cannot be loaded.** {error_markdown(fault)}", icon=":material/error:")
        else:
            found[label] = cast(Translator, model)
    if not found:
        end_here()
    return found
