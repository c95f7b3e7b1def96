"""Where pixels look: step by step, one of them from all sides, all 784 at once, and while it is being learned."""

from __future__ import annotations

import streamlit as st
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts import picture, weights_ramp
from attention_core.data.drawing import Drawing
from attention_core.device import to_array
from attention_core.explain.faithfulness import ink_mask
from attention_core.models import attention_at_snapshot
from attention_core.weights import WeightsError
from ui.chart import draw_chart
from ui.computed import computed
from ui.digits import chosen_query, pick_pixel, query_maps, whole_maps
from ui.glossary import explain
from ui.layout import section
from ui.models import load_snapshots, model_or_stop
from ui.pixels.drawing import NAME, STEPS
from ui.state import Field, whole_number
from ui.step_view import query_row, show_matrix, show_words

MODEL = "pixel-classifier"
MOMENT = Field(NAME, "snapshot", -1, address="moment", parse=whole_number)
INK_ONLY = Field(NAME, "ink_only", False, address="ink")


def step_by_step(trace: AttentionTrace, drawing: Drawing) -> None:
    """Draw the stepper and, on one screen, the drawing with the query, the step's formula and its matrix."""
    query = chosen_query(drawing.image, NAME)
    step = STEPS.draw(trace)
    hidden = STEPS.hides(trace, step, query)
    left, right = st.columns([0.82, 1], gap="large")
    with left:
        drawn, hint = st.columns([1, 1.1], vertical_alignment="center")
        with drawn:
            pick_pixel(drawing.image, NAME, size=168)
        with hint:
            row, column = divmod(query, 28)
            st.caption(
                f"The framed pixel is the query: number {query + 1} (row {row + 1}, column {column + 1}). Click "
                "another one. The arrow keys step."
            )
        if not hidden:
            show_words(trace, step, 0, query, int(trace.weights(0, [query])[0].argmax()))
    with right:
        if not hidden:
            show_matrix(step, 0, query, NAME)


def chosen_pixel(trace: AttentionTrace, drawing: Drawing) -> None:
    """Draw where the query looks, who looks at it, and its row in numbers."""
    query = chosen_query(drawing.image, NAME)
    pick, looks = st.columns([1, 3], gap="medium")
    with pick:
        section("The chosen pixel", Role.QUERY)
        pick_pixel(drawing.image, NAME, size=168, key="pick_map")
        st.caption("Click a pixel: it becomes the query.")
    with looks:
        query_maps(trace, 0, query, drawing.image, 250, NAME)
        query_row(trace, 0, query)


def all_pixels(trace: AttentionTrace, drawing: Drawing) -> None:
    """Draw what the whole matrix says of each pixel."""
    ink_only = st.toggle(
        "Average over ink queries only",
        key=INK_ONLY.key,
        persist_state="session",
        help="Most queries are background.",
    )
    whole_maps(trace, 0, chosen_query(drawing.image, NAME), drawing.image, ink_only, size=250)


def learning_section(image: Tensor) -> None:
    """Draw the drawing as eight moments of the training saw it."""
    try:
        snapshots = load_snapshots(MODEL)
    except WeightsError as error:
        st.info(f"The snapshots of the training are not here. {error}")
        return
    query = chosen_query(to_array(image), NAME)
    steps = sorted(int(name.split(".")[0]) for name in snapshots if name.endswith(".step"))
    MOMENT.among(steps, steps[-1])
    number = st.select_slider(
        "Moment of the training",
        steps,
        format_func=lambda moment: f"batch {int(snapshots[f'{moment}.step']):,}",
        key=MOMENT.key,
        persist_state="session",
    )
    trace = _at_moment(number, image)
    summary = trace.summary(0, ink_mask(image).flatten())
    looks_at = to_array(trace.weights(0, [query])[0]).reshape(28, 28)
    received = to_array(summary.received).reshape(28, 28)
    left, middle, right = st.columns([1, 1, 1], gap="large")
    ink = to_array(image)
    with left:
        st.markdown("**The chosen pixel looks at**")
        ramp = weights_ramp(trace.n_keys, float(looks_at.max()))
        chart = picture(looks_at, ramp, title="weight", size=250, marked=query, outline=ink)
        draw_chart(chart, width="content", alt="Where the chosen pixel looks at this moment")
    with middle:
        st.markdown("**Received on average, over the ink queries**")
        chart = picture(
            received, weights_ramp(trace.n_keys, float(received.max())), title="weight", size=250, outline=ink
        )
        draw_chart(chart, width="content", alt="Attention received at this moment")
    with right:
        st.metric(
            "mean entropy of a row",
            f"{float(summary.entropy.mean()):.1f} bits",
            help=f"{explain('entropy')} log2(784) = 9.6 bits: looking everywhere alike.",
        )
        st.metric("largest weight", f"{float(summary.largest.max()):.3f}")
        st.caption("From the first batch to the last: the same drawing, the attention parameters of that moment.")


@computed(by_model=True)
def _at_moment(number: int, image: Tensor) -> AttentionTrace:
    return attention_at_snapshot(model_or_stop(MODEL), load_snapshots(MODEL), number, image)[0]
