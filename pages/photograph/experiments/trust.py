"""Can I trust it? Attention beside its controls, over photographs with boxes around what is there."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention_core.attention.types import Role
from attention_core.attention.wording import percent
from attention_core.charts.bars import SERIES, bar_table
from attention_core.device import to_array
from attention_core.inference.photographs import photo_names
from pages.photograph.first_screen import SURE, draw_photographs
from pages.photograph.reading import MODEL, SIDE, ask_all, content_of_photo, see, temperature
from ui.chart import note_picture
from ui.computed import card_or_empty
from ui.labels import note
from ui.layout import bar_rows, figures_table, section

MEANS = {
    "attended": "asked for it",
    "control": "asked for anything else",
    "equal": "all regions equal",
    "trained": "all equal, shrunk as in training",
}
MAX_NAMES = 12


def draw_input() -> dict[str, Any]:
    """Draw the photographs, and what would be found on the chosen one; return the figures of the network's card."""
    draw_photographs()
    content = content_of_photo()
    shares = to_array(ask_all(MODEL, see(MODEL, content, SIDE.value), temperature()).attended)
    rows = [row for row in np.argsort(-shares).tolist() if shares[row] > SURE][:MAX_NAMES]
    names = ", ".join(f"{photo_names()[row]} ({percent(float(shares[row]))})" for row in rows)
    st.markdown(f"**Asked by its exact name**, each of these is found here, there or not: {names or 'nothing'}.")
    return card_or_empty(MODEL).get("photographs", {})


def answer(figures: dict[str, Any]) -> str:
    """Say how often it is right, and how often it finds what is not there."""
    if not figures:
        return ""
    means, n = figures["temperature_1"], figures["n"]
    inside = round(n * means["peak_inside"])
    return (
        f"It looks at the right place **{inside} of {n}** times. But of a thousand things that are not there it finds "
        f"**{1000 * means['absent_called']:.0f}** on average, too; the **best score** is a hint, no proof."
    )


def draw(figures: dict[str, Any]) -> None:
    """Draw the figures, and those of each question."""
    if not figures:
        return
    left, right = st.columns([1.15, 1], gap="large")
    with left, st.container(key="photograph_means"):
        means = figures["temperature_1"]
        heading, shares = "How sure it is, on average", [means[key] for key in MEANS]
        section(heading, Role.OUTPUT)
        note_picture(partial(bar_table, [*MEANS.values()], {"probability": shares}, SERIES), heading)
        st.html(bar_rows((title, share, SERIES[0]) for title, share in zip(MEANS.values(), shares, strict=True)))
        on_thing, of_picture = (percent(means[key]) for key in ("weight_inside", "area_of_boxes"))
        st.markdown(f"The thing is **{of_picture}** of the picture, and gets **{on_thing}** of the weight.")
        with st.container(key="desk_photograph_boxes"):
            note("Twenty free photographs, 24 things with boxes that we drew. With equal weights it classifies.")
    with right, st.container(key="desk_photograph_each"):
        header = "asked", "attention", "equal", "best score"
        questions = (
            (row["class"], *(percent(row[key]) for key in ("attended", "equal")), f"{row['best_score']:.1f}")
            for row in figures["questions"]
        )
        figures_table(header, *questions)
