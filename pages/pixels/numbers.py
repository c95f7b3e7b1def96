"""All the numbers, from the drawing to the digit that is read."""

import streamlit as st

from attention_core.attention.types import Role, Step
from attention_core.charts.overlay import image_png
from pages.pixels import first_screen as screen
from ui.chart import draw_layers
from ui.digits import inked
from ui.player import StepStyle, show_all_numbers


def draw_numbers(reading: screen.Reading) -> None:
    """Draw the steps, and the drawing with the query."""
    trace, query = reading.trace, reading.query

    def draw_query(_: Step) -> None:
        picture_column, hint = st.columns([1, 1.1], vertical_alignment="center")
        with picture_column:
            ink, alt = reading.drawing.image, "The drawing; click a pixel to let it ask"
            layers, key, pick = [image_png(inked(ink))], "pixels_pick", screen.QUERY.set
            draw_layers(layers, ink, key, alt, size=168, axis="pixels", tooltip="ink {}", chosen=query, on_choose=pick)
        with hint:
            row, column = divmod(query, 28)
            st.caption(f"Pixel {query + 1} asks (row {row + 1}, column {column + 1}). Click another.")

    def style_of(step: Step) -> StepStyle:
        return StepStyle(query, glow=screen.MAX_MAP_WEIGHT if step.role is Role.WEIGHTS else 0.0)

    show_all_numbers(
        trace,
        screen.STEPS,
        screen.NAME,
        query=query,
        style_of=style_of,
        on_query=screen.QUERY.set,
        above_text=draw_query,
    )
