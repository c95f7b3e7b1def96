"""Can I trust it? Attention beside its controls, over photographs with boxes around what is there."""

from typing import Any

import streamlit as st

from attention_core.attention.wording import percent
from pages.photograph.reading import MODEL
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
SMALL = "absent_called"  # in which finer digits matter


def draw_input() -> dict[str, Any]:
    """Return the figures of the network's card."""
    return card_or_empty(MODEL).get("photographs", {})


def answer(figures: dict[str, Any]) -> str:
    """Say how often it is right, and how often it finds what is not there."""
    if not figures:
        return ""
    means, n = figures["temperature_1"], figures["n"]
    inside = round(n * means["peak_inside"])
    return (
        f"It looks at the right place **{inside} of {n}** times. But a photograph of a thousand absent things is said "
        f"to hold **{1000 * means[SMALL]:.0f}**, and its answer cannot tell them apart: the **best score** is the only "
        "hint."
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
        note(
            "Twenty free photographs, 24 things with boxes that we drew. *Equal weights* are what the classifier does; "
            "a whole photograph was squeezed into 224 pixels when it learned."
        )
    with right:
        header = "asked", "attention", "equal", "best score"
        questions = (
            (row["class"], *(percent(row[key]) for key in ("attended", "equal")), f"{row['best_score']:.1f}")
            for row in figures["questions"]
        )
        figures_table(header, *questions)


def _share(key: str, mean: float) -> str:
    return f"{100 * mean:.2g}%" if key == SMALL else percent(mean)
