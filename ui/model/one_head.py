"""One head of one layer: where its tokens look, its matrix large, every step on the way to it."""

from typing import Any

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts.heatmap import MAX_RECT_SIDE, matrix_chart
from attention_core.charts.palette import VIRIDIS, Ramp, weights_ramp
from attention_core.device import to_array
from attention_core.explain.heads import Look, matrix_for
from attention_core.hub.run import ModelRun
from ui.labels import literal, said
from ui.layout import section
from ui.model.glance import what_is_shown
from ui.model.state import NAME, STEPS, Chosen, choose, chosen_layers, clickable_chart, in_code
from ui.model.tokens import token_view
from ui.step_view import export_bar, query_row, show_matrix, show_words

MATRIX_SIZE = 430
MOST_DRAWN = 2048
"""Queries or keys up to which a matrix is drawn whole; beyond, the atlas serves better."""


def one_head(run: ModelRun, look: Look) -> None:
    """Draw the chosen head: its tokens beside its matrix, the chosen query in numbers."""
    now, trace = _head(run)
    if trace.story.note:
        st.info(said(trace.story.note))
    words, matrix = st.columns([1.15, 1], gap="large")
    with words:
        token_view(run, trace, now.head, look)
        if trace.value.shape[-1]:
            query_row(trace, now.head, now.query, n=5, key_words="patch" if run.patch_grid else "token")
    with matrix:
        large_matrix(trace, now.head, look, now.query)


def step_by_step(run: ModelRun) -> None:
    """Step through the chosen head, from queries and keys to the context."""
    now, trace = _head(run)
    step = STEPS.draw(trace)
    if STEPS.hides(trace, step, now.query, now.head):
        return
    words, matrix = st.columns([0.9, 1], gap="large")
    best = int(trace.weights(now.head, [now.query])[0].argmax())
    with words:
        st.caption(f"The query is {literal(trace.story.query_axis.labels[now.query])}, position {now.query + 1}.")
        show_words(trace, step, now.head, now.query, best)
    with matrix:
        if max(step.shape) > MOST_DRAWN:
            st.info(f"{step.shape[0]:,} × {step.shape[1]:,} numbers are too many for one picture.")
            return
        of_queries = step.row_axis is trace.story.query_axis
        show_matrix(step, now.head, now.query if of_queries else None, f"model_step_{trace.story.name}")


def take_along(run: ModelRun) -> None:
    """Offer the chosen head's numbers and the script that computes them."""
    now, trace = _head(run)
    seen = {"recording": run.recording, "picture": run.picture, "grid": run.patch_grid}
    about = f"{run.recording.model} {now.group} layer {now.layer + 1} head {now.head + 1}"
    export_bar(trace, NAME, head=now.head, query=now.query, about=about, **seen)


def _head(run: ModelRun) -> tuple[Chosen, AttentionTrace]:
    """Draw the name of the chosen head; return what is chosen and the trace of its layer."""
    now, layers = chosen_layers(run)
    section(
        f"{now.group.capitalize()}, layer {now.layer + 1}, head {now.head + 1} <small>{in_code(now)}</small>",
        Role.WEIGHTS,
    )
    return now, layers[now.layer]


def large_matrix(
    trace: AttentionTrace,
    head: int,
    look: Look,
    query: int,
    *,
    size: int = MATRIX_SIZE,
    side: str = "",
) -> None:
    """Draw a head's matrix as it is looked at; a click on a cell of a small one makes its row the query."""
    if max(trace.n_queries, trace.n_keys) > MOST_DRAWN:
        st.info(f"{trace.n_queries:,} × {trace.n_keys:,} weights: the atlas shows all of them, like a map.")
        return
    values = to_array(matrix_for(trace, head, look).float())
    allowed = trace.allowed(head)
    if allowed is not None:
        values = np.where(to_array(allowed), values, np.nan)
    select = "cell" if max(values.shape) <= MAX_RECT_SIDE else None
    largest = float(np.nanmax(values, initial=0))
    ramp = weights_ramp(trace.n_keys, largest) if look.is_plain else Ramp(VIRIDIS, 0, max(largest, 1e-12))
    clickable_chart(
        weights_chart(trace, values, query, title=what_is_shown(look), size=size, ramp=ramp, select=select),
        f"model_matrix{side}_{trace.story.name}_{trace.n_queries}_{trace.n_keys}",
        f"Attention of head {head + 1}: queries are rows, keys are columns",
        select,
        lambda cell: choose(query=int(cell["row"])),
    )


def weights_chart(trace: AttentionTrace, values: np.ndarray, query: int, **look: Any) -> Any:
    """Return a picture of a matrix with the trace's queries and keys, one query marked; see matrix_chart."""
    axes = trace.story.query_axis, trace.story.key_axis
    return matrix_chart(values, *axes, Role.WEIGHTS, marked_row=query, **look)
