"""Which source the atlas shows; each draws its own input."""

from __future__ import annotations

import streamlit as st

from ui.atlas.run_sources import run_source, text_source
from ui.atlas.sources import (
    ADDRESS,
    DIGIT,
    MADE,
    RUN,
    SOURCES,
    TENSORS,
    TEXT,
    Source,
    digit_source,
    made_source,
    write_address,
)
from ui.atlas.tensor_source import tensor_source
from ui.opened import opened_file, opened_recording

DRAWS = {
    MADE: made_source,
    TEXT: text_source,
    DIGIT: digit_source,
    TENSORS: tensor_source,
    RUN: run_source,
}


def choose_source(name: str) -> Source | None:
    """Draw the choice and the chosen source's own input; return None where there is nothing to show yet.

    Args:
        name: prefix of its state.
    """
    state, key = st.session_state, f"{name}_source"
    if state.get(key) not in SOURCES:
        asked = st.query_params.get(ADDRESS, "").split("-")[0]
        state[key] = asked if asked in SOURCES else _of_the_command_line()
    chosen = st.selectbox("Map", list(SOURCES), format_func=SOURCES.__getitem__, key=key, persist_state="session")
    if chosen in (TENSORS, RUN, TEXT):
        write_address(ADDRESS, chosen)
    return DRAWS[chosen](name)


def _of_the_command_line() -> str:
    """Return the source that a file named on the command line asks for."""
    if opened_file() is None:
        return MADE
    return RUN if opened_recording() else TENSORS
