"""The stepper of the reading page: every step of the trace, at the present look."""

from __future__ import annotations

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from attention_core.charts import contact_sheet, ramp_for
from attention_core.device import to_array
from ui.digits import ink_image
from ui.layout import section
from ui.query_row import query_row
from ui.read.parts import NAME, Shown
from ui.step_view import show_matrix, show_words
from ui.stepper import is_hidden, stepper

STEPS = f"{NAME}_trace"
SIZE = 480


def step_part(shown: Shown, look: int) -> None:
    """Draw the stepper, the present step's words and its numbers."""
    section("Step by step")
    trace = shown.reading.trace
    step = stepper(trace, STEPS, modifier="Shift+")
    hidden = is_hidden(step, STEPS)
    words, numbers = st.columns([0.9, 1.1], gap="large")
    if hidden:
        return
    best = int(trace.weights(rows=[look])[0].argmax())
    with words:
        st.caption(f"Query {look} is the state before look {look + 1}. Shift and the arrow keys step.")
        show_words(trace, step, 0, look, best)
    with numbers:
        _show(trace, step, look, best, shown)
        if step.name in ("scores", "weights"):
            with st.expander("This look in numbers"):
                query_row(trace, 0, look, n=5, key_words="region")


def _show(trace: AttentionTrace, step: Step, look: int, best: int, shown: Shown) -> None:
    """Draw a step: the picture as a picture, looks over regions as maps, everything else as its matrix."""
    if step.name == "picture":
        ink_image(shown.picture, 2 * shown.picture.shape[1], "The 48 x 192 picture that the reader sees")
        return
    if step.col_axis is trace.story.key_axis:
        values = to_array(step.value())
        labels = [f"look {number + 1}: {said}" for number, said in enumerate(shown.labels)]
        chart = contact_sheet(
            values.reshape(-1, *trace.story.key_axis.grid),
            labels,
            ramp_for(step.role, values, trace.n_keys),
            title=step.title.lower(),
            columns=2,
            size=SIZE // 2 - 8,
            marked=best,
        )
        st.altair_chart(chart, width="content", key=f"{STEPS}_{step.name}_maps", alt=f"{step.title} of every look")
        return
    show_matrix(step, 0, best if step.row_axis.grid else look, STEPS, size=SIZE)
