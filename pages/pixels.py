"""Draw a digit: which pixels matter to which?"""

import streamlit as st
import torch

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts import probability_bars
from attention_core.data.drawing import Remark, prepare
from ui.canvas import Pad, digit_presets, drawing_pad
from ui.digits import (
    erase_section,
    learning_section,
    predict,
    preparation_section,
)
from ui.export import export_bar
from ui.layout import page_frame, section, who_asks
from ui.picture_maps import chosen_query, pick_pixel, query_maps, whole_maps
from ui.query_row import query_row
from ui.step_view import show_matrix, show_words
from ui.stepper import is_hidden, play_interval, stepper

NAME = "pixels"
REMARKS = {
    Remark.EMPTY: "Draw a digit on the pad, anywhere and in any size, or take one of the ten below it.",
    Remark.DOT: "That is a dot. Keep drawing: a digit needs a stroke or two.",
    Remark.SEVERAL: "This looks like several digits side by side. The models read one, and take all ink as part of it.",
}

page_frame(
    "Draw a digit", "Every one of the 784 pixels asks every other: *how much do you matter to me?* Follow the answer."
)
who_asks("each pixel", "all 784 pixels", "each pixel's place, so that what is drawn speaks through the weights alone")

draw, seen, answer = st.columns([1.0, 0.95, 1.25], gap="large")
with draw:
    section("Draw")
    pad = drawing_pad(Pad(NAME, digit_presets(), first="7"))
drawing = prepare(pad.canvas)
if drawing.remark:
    with draw:
        st.info(REMARKS[drawing.remark])
if drawing.remark is Remark.EMPTY:
    st.stop()
image = torch.from_numpy(drawing.image)
attention, ffn, blind = predict(image)
trace = attention.traces[0]
with answer:
    section("Answer")
    probabilities = {"self-attention": attention.probabilities, "feed-forward, no attention": ffn.probabilities}
    st.altair_chart(
        probability_bars(probabilities, [str(digit) for digit in range(10)], height=215),
        key="answer",
        alt="Probabilities of the ten digits by both models",
    )
    st.markdown(
        f"Attention reads **{attention.digit}** ({attention.confidence:.0%}), "
        f"the feed-forward network **{ffn.digit}** ({ffn.confidence:.0%})."
    )
    st.caption(
        f"With every weight set to 1/784 the same attention network would read {blind.digit} "
        f"({blind.confidence:.0%}): it is the attention that carries the answer."
    )
with seen:
    section("What the model sees")
    preparation_section(drawing)


def step_by_step(trace: AttentionTrace, query: int) -> None:
    """Draw the stepper and, on one screen, the drawing with the query, the step's formula and its matrix."""
    step = stepper(trace, NAME)
    hidden = is_hidden(step, NAME)
    left, right = st.columns([0.82, 1], gap="large")
    with left:
        picture, hint = st.columns([1, 1.1], vertical_alignment="center")
        with picture:
            pick_pixel(drawing.image, NAME, size=168)
        with hint:
            row, column = divmod(query, 28)
            st.caption(
                f"The framed pixel is the query: number {query} (row {row}, column {column}). Click another one. "
                "The arrow keys step."
            )
        if not hidden:
            show_words(trace, step, 0, query, int(trace.weights(0, [query])[0].argmax()))
    with right:
        if not hidden:
            show_matrix(step, 0, query, NAME)


def chosen_pixel(trace: AttentionTrace, query: int) -> None:
    """Draw where the query looks, who looks at it, and its row in numbers."""
    st.divider()
    maps, numbers = st.columns([1.15, 1], gap="large")
    with maps:
        section("The chosen pixel", Role.QUERY)
        query_maps(trace, 0, query, drawing.image, size=250)
    with numbers:
        query_row(trace, 0, query)


def explore(trace: AttentionTrace) -> None:
    """Step through the trace, and look at the chosen query from all sides."""
    query = chosen_query(drawing.image, NAME)
    steps, maps = st.container(), st.container()
    with maps:  # filled first: after a stroke the map should not wait for the large matrix
        chosen_pixel(trace, query)
    with steps:
        step_by_step(trace, query)
    st.divider()
    section("All 784 at once", Role.WEIGHTS)
    ink_only = st.toggle(
        "Average over ink queries only", key="ink_only", persist_state="session", help="Most queries are background."
    )
    whole_maps(trace, 0, query, drawing.image, ink_only, size=250)
    export_bar(trace, NAME, query=query)


st.divider()
st.fragment(explore, run_every=play_interval(NAME))(trace)
st.divider()
erase_section(image, drawing, pad, attention)
st.divider()
learning_section(image, chosen_query(drawing.image, NAME))
