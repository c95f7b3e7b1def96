"""Where does it look for each digit? One look after another, over the drawing, and what it says."""

from functools import partial

import streamlit as st

from attention_core.attention.types import Role
from attention_core.attention.wording import percent
from attention_core.charts.bars import SERIES, bar_table
from attention_core.charts.overlay import GLOW, strongest_weight
from attention_core.data.scenes import MAX_DIGITS
from attention_core.models.digit_reader import CLASSES, END
from pages.read.first_screen import COLUMNS
from pages.read.inputs import PresentLook, draw_look, draw_present_map, maps_of
from pages.read.pad import MODEL
from ui.chart import note_picture
from ui.computed import card_or_empty
from ui.layout import bar_rows, section
from ui.lecture.mode import LECTURE

draw_input = draw_look
HALL_WIDTH = 1240  # screen pixels, before it is enlarged


def answer(present: PresentLook) -> str:
    """Say what is said after the look that is shown."""
    probabilities = present.drawing.reading.probabilities[present.look]
    certainty, label = percent(float(probabilities.max())), CLASSES[int(probabilities.argmax())]
    largest = percent(float(maps_of(present.drawing.reading)[present.look].max()))
    if label == CLASSES[END]:
        return f"It finds no further digit (pink: up to {largest}): it says **end** ({certainty} sure), and stops."
    return f"At this look (pink: up to {largest}) it reads **{label}** ({certainty} sure)."


def draw(present: PresentLook) -> None:
    """Draw the present look: its map over the drawing, in a lecture as wide as the screen, and what it says."""
    if LECTURE.value:
        draw_present_map(present, "read_film", size=HALL_WIDTH)
        return
    map_column, bars_column = st.columns(COLUMNS, gap="large")
    with map_column:
        draw_present_map(present, "read_film")
        n_keys, high = present.drawing.reading.trace.n_keys, float(maps_of(present.drawing.reading).max())
        bar = f'<i style="background:linear-gradient(90deg,{",".join(GLOW)})"></i>'
        strongest = f"{percent(strongest_weight(n_keys, high))} of each look (all equal: {percent(1 / n_keys)})"
        st.html(f'<p class="glow">0 {bar} {strongest}</p>')
        _draw_test_figures()
    with bars_column:
        section(f"Look {present.look + 1} says", Role.OUTPUT)
        shares = present.drawing.reading.probabilities[present.look].tolist()
        note_picture(partial(bar_table, CLASSES, {"probability": shares}, SERIES), f"Look {present.look + 1} says")
        best = sorted(zip(CLASSES, shares, strict=True), key=lambda line: -line[1])[:5]
        st.html(bar_rows((*line, SERIES[0]) for line in best))


def _draw_test_figures() -> None:
    """Say how often it is right, on numbers that it never saw."""
    if shares := card_or_empty(MODEL).get("test_numbers"):
        five, six = shares["accuracy_1_to_5"], shares["accuracy_by_length"][str(MAX_DIGITS)]
        st.caption(
            f"The map says where a digit was read, not why. {percent(five)} of new numbers of up to five digits are "
            f"right, {percent(six)} of six."
        )
