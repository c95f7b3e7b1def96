"""Where pixels look: step by step, one of them from all sides, all 784 at once."""

from __future__ import annotations

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.data.drawing import Drawing
from ui.layout import section
from ui.picture_maps import chosen_query, pick_pixel, query_maps, whole_maps
from ui.pixels.drawing import NAME, STEPS
from ui.query_row import query_row
from ui.state import Field, yes
from ui.step_view import show_matrix, show_words

INK_ONLY = Field(NAME, "ink_only", False, address="ink", parse=yes, text=lambda on: "1" if on else "0")


def step_by_step(trace: AttentionTrace, drawing: Drawing) -> None:
    """Draw the stepper and, on one screen, the drawing with the query, the step's formula and its matrix."""
    query = chosen_query(drawing.image, NAME)
    step = STEPS.draw(trace)
    hidden = STEPS.hides(step)
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


def chosen_pixel(trace: AttentionTrace, drawing: Drawing) -> None:
    """Draw where the query looks, who looks at it, and its row in numbers."""
    query = chosen_query(drawing.image, NAME)
    pick, maps, numbers = st.columns([0.62, 1.15, 1], gap="large")
    with pick:
        section("The chosen pixel", Role.QUERY)
        pick_pixel(drawing.image, NAME, size=168, key="pick_map")
        st.caption("Click a pixel: it becomes the query.")
    with maps:
        query_maps(trace, 0, query, drawing.image, 250, NAME)
    with numbers:
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
