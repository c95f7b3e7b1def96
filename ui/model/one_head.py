"""One head of one layer: where its tokens look, its matrix large, and every step on the way to it."""

from __future__ import annotations

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.explain.heads import PLAIN, Look
from attention_core.hub.run import ModelRun
from ui.export import export_bar
from ui.labels import literal
from ui.layout import section
from ui.model.large import MOST_DRAWN, large_matrix
from ui.model.state import Chosen, chosen, chosen_trace
from ui.model.tokens import token_view
from ui.query_row import query_row
from ui.step_view import show_matrix, show_words
from ui.stepper import is_hidden, stepper


def head_title(picked: Chosen) -> str:
    """Return what is looked at in words, "encoder self, layer 3, head 5"."""
    return f"{picked.group.capitalize()}, layer {picked.layer + 1}, head {picked.head + 1}"


def one_head(run: ModelRun, name: str, look: Look = PLAIN) -> None:
    """Draw the chosen head: its tokens beside its matrix, the chosen query in numbers, its steps."""
    picked, trace = chosen(name, run), chosen_trace(name, run)
    section(head_title(picked), Role.WEIGHTS)
    if trace.story.note:
        st.info(trace.story.note)
    words, matrix = st.columns([1.15, 1], gap="large")
    with words:
        token_view(name, run, trace, picked.head, look)
        if trace.value.shape[-1]:
            query_row(trace, picked.head, picked.query, n=5, key_words="patch" if run.patch_grid else "token")
    with matrix:
        large_matrix(trace, picked.head, look, name, query=picked.query)
    st.divider()
    steps_of_head(trace, picked, name)
    export_bar(trace, name, head=picked.head, query=picked.query)


def steps_of_head(trace: AttentionTrace, picked: Chosen, name: str) -> None:
    """Step through the head, from queries and keys to the context."""
    section("Step by step")
    step = stepper(trace, name)
    if is_hidden(step, name):
        return
    words, matrix = st.columns([0.9, 1], gap="large")
    best = int(trace.weights(picked.head, [picked.query])[0].argmax())
    with words:
        st.caption(f"The query is {literal(trace.story.query_axis.labels[picked.query])}, position {picked.query}.")
        show_words(trace, step, picked.head, picked.query, best)
    with matrix:
        if max(step.shape) > MOST_DRAWN:
            st.info(f"{step.shape[0]:,} × {step.shape[1]:,} numbers are too many for one picture.")
            return
        of_queries = step.row_axis is trace.story.query_axis
        show_matrix(step, picked.head, picked.query if of_queries else None, f"{name}_step_{trace.story.name}")
