"""The stepper of *Draw a digit*."""

import streamlit as st

from attention_core.charts import picture
from attention_core.explain.guess import KeyPicture
from ui.chart import click, draw_chart
from ui.digits import inked
from ui.layout import ink_ramp
from ui.pixels.first_screen import NAME, QUERY, STEPS, Reading
from ui.player import StepLook, show_step_chart, show_words


def pixels_steps(reading: Reading) -> None:
    """Draw the stepper and, on one screen, the drawing with the query, the step's formula and its matrix."""
    trace, query = reading.trace, reading.query
    if not (step := STEPS.draw(trace, query, picture=KeyPicture(inked(reading.drawing.image), (28, 28)))):
        return
    left, right = st.columns([0.82, 1], gap="large")
    with left:
        drawn, hint = st.columns([1, 1.1], vertical_alignment="center")
        with drawn:
            chart = picture(
                reading.drawing.image, ink_ramp(), title="ink", size=168, marked=query, select="pixel", bar=False
            )
            looks = click("pixels_pick", "pixel", "position", QUERY)
            draw_chart(chart, **looks, width="content", alt="The drawing in 28 x 28 pixels; click one to let it ask")
        with hint:
            row, column = divmod(query, 28)
            st.caption(f"Pixel {query + 1} asks (row {row + 1}, column {column + 1}). Click another.")
        show_words(trace, step, 0, query)
    with right:
        show_step_chart(trace, step, 0, lambda _: StepLook(query), NAME, stepper=STEPS)
