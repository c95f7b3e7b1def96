"""Can I trust it? Attention beside its controls, over photographs with boxes around what is there."""

from typing import Any

import numpy as np
import streamlit as st

from attention_core.attention.wording import percent
from attention_core.device import to_array
from attention_core.inference.photographs import photo_names
from pages.photograph.first_screen import SURE, draw_photographs
from pages.photograph.reading import MODEL, SIDE, ask_all, content_of_photo, see, temperature
from ui.computed import card_or_empty
from ui.labels import note
from ui.layout import figures_table

TEMPERATURES = {"temperature_1": "as trained", "temperature_4": "a little choosy"}
ROWS = {
    "attended": "asked for it: is it named?",
    "equal": "all regions equal",
    "trained": "all regions equal, small as the network learned",
    "control": "asked for any other thing",
    "absent_called": "things that are not there, and are found",
    "peak_inside": "largest weight on the thing",
    "weight_inside": "share of the weight on it",
    "area_of_boxes": "share of the picture that it is",
}
MAX_NAMES = 12
SMALL = "absent_called"  # in which finer digits matter


def draw_input() -> dict[str, Any]:
    """Draw the photographs, and what would be found on the chosen one; return the figures of the network's card."""
    draw_photographs()
    content = content_of_photo()
    shares = to_array(ask_all(MODEL, see(MODEL, content, SIDE.value), temperature()).attended)
    rows = [row for row in np.argsort(-shares).tolist() if shares[row] > SURE][:MAX_NAMES]
    names = ", ".join(f"{photo_names()[row]} ({percent(float(shares[row]))})" for row in rows)
    st.markdown(f"On this photograph it finds, **whenever it is asked for them**: {names or 'nothing'}.")
    return card_or_empty(MODEL).get("photographs", {})


def answer(figures: dict[str, Any]) -> str:
    """Say how often it is right, and how often it finds what is not there."""
    if not figures:
        return ""
    means, n = figures["temperature_1"], figures["n"]
    inside = round(n * means["peak_inside"])
    return (
        f"It looks at the right place **{inside} of {n}** times. But of a thousand things that are not there it finds "
        f"**{1000 * means[SMALL]:.0f}**, too; the **best score** is a hint, no proof."
    )


def draw(figures: dict[str, Any]) -> None:
    """Draw the figures, and those of each question."""
    if not figures:
        return
    left, right = st.columns([1.15, 1], gap="large")
    with left:
        columns = [figures[temperature] for temperature in TEMPERATURES]
        rows = ([title, *(_share(key, means[key]) for means in columns)] for key, title in ROWS.items())
        figures_table(("on average, how choosy", *TEMPERATURES.values()), *rows)
        with st.container(key="desk_photograph_boxes"):
            note(
                "Twenty free photographs, 24 things with boxes that we drew. With equal weights it classifies; "
                "a whole photograph was squeezed into 224 pixels when it learned."
            )
    with right, st.container(key="desk_photograph_each"):
        header = "asked", "attention", "equal", "best score"
        questions = (
            (row["class"], *(percent(row[key]) for key in ("attended", "equal")), f"{row['best_score']:.1f}")
            for row in figures["questions"]
        )
        figures_table(header, *questions)


def _share(key: str, mean: float) -> str:
    return f"{100 * mean:.2g}%" if key == SMALL else percent(mean)
