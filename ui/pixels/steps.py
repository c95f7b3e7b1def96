"""The stepper of *Draw a digit*."""

import streamlit as st

from ui.digits import chosen_query, pick_pixel
from ui.pixels.first_screen import NAME, STEPS, Reading
from ui.player import show_step_chart, show_words


def pixels_steps(reading: Reading) -> None:
    """Draw the stepper and, on one screen, the drawing with the query, the step's formula and its matrix."""
    trace, image = reading.trace, reading.drawing.image
    query = chosen_query(image, NAME)
    step = STEPS.draw(trace)
    if STEPS.draw_guess(trace, step, query):
        return
    left, right = st.columns([0.82, 1], gap="large")
    with left:
        drawn, hint = st.columns([1, 1.1], vertical_alignment="center")
        with drawn:
            pick_pixel(image, NAME, size=168)
        with hint:
            row, column = divmod(query, 28)
            st.caption(f"The framed pixel asks: number {query + 1}, row {row + 1}, column {column + 1}. Click another.")
        show_words(trace, step, 0, query, int(trace.weights(0, [query])[0].argmax()))
    with right:
        show_step_chart(step, 0, query, NAME)
