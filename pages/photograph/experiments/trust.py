"""Can I trust it? Attention beside its controls, over photographs with boxes around what is there."""

from collections.abc import Container
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention_core.attention.types import Role
from attention_core.attention.wording import percent
from attention_core.charts.bars import SERIES, bar_table, bars
from attention_core.device import to_array
from attention_core.inference.photographs import photo_names
from pages.photograph.first_screen import ABSENT, SURE, draw_photographs
from pages.photograph.numbers import draw_spot
from pages.photograph.reading import (
    FIRST,
    MODEL,
    PHOTO,
    PHOTOGRAPHS,
    SIDE,
    Question,
    ask,
    ask_all,
    content_of_photo,
    see,
    temperature,
)
from ui.chart import draw_chart, note_picture
from ui.computed import card_or_empty
from ui.labels import note
from ui.layout import bar_rows, section
from ui.lecture.mode import LECTURE

MEANS = {
    "attended": "asked for it",
    "control": "asked for anything else",
    "equal": "all regions equal",
    "trained": "all equal, shrunk as in training",
}
THERE, ABSENT_COLOUR = SERIES[0], SERIES[2]
MAX_NAMES, CHART_HEIGHT = 12, 520


def draw_input() -> dict[str, Any]:
    """Draw the photographs, and what would be found on the chosen one; return the network's card."""
    with st.container(key="desk_photograph_found"):
        draw_photographs()
        _draw_detected(PHOTO.value)
    return card_or_empty(MODEL)


def _detect_names(name: str) -> tuple[list[tuple[str, float]], Container[str]]:
    """Return what is found on a photograph when each of a thousand names is asked for, and which of that is there."""
    content = PHOTOGRAPHS[name].content if name in PHOTOGRAPHS else content_of_photo()
    shares = to_array(ask_all(MODEL, see(MODEL, content, SIDE.value), temperature()).attended)
    detected = [(photo_names()[row], float(shares[row])) for row in np.argsort(-shares).tolist() if shares[row] > SURE]
    return detected, PHOTOGRAPHS[name].classes if name in PHOTOGRAPHS else ()  # of one's own nobody has said it


def _draw_detected(name: str) -> None:
    detected, there = _detect_names(name)
    section("Found here (blue: it is there)" if there else "Found by name", Role.OUTPUT)
    names, shares = map(list, zip(*detected[:MAX_NAMES], strict=True)) if detected else ([], [])
    note_picture(partial(bar_table, names, {"probability": shares}, SERIES), "Found by name")
    colours = [ABSENT_COLOUR if there and each not in there else THERE for each in names]
    st.html(bar_rows(zip(names, shares, colours, strict=True)))


def answer(card: dict[str, Any]) -> str:
    """Say how often it is right, and how often it finds what is not there."""
    if "photographs" not in card:
        return ""
    means, n = card["photographs"]["temperature_1"], card["photographs"]["n"]
    detected, there = _detect_names(FIRST if LECTURE.value else PHOTO.value)
    here = f"here **{sum(name not in there for name, _ in detected)}**, " if there else ""
    return (
        f"It looks at the right place **{round(n * means['peak_inside'])} of {n}** times, yet of 1000 names it finds "
        f"some that are not there: {here}on average **{1000 * means['absent_called']:.0f}**."
    )


def _draw_false_finds() -> None:
    """Draw what is found on the first photograph, and where what is not there is seen."""
    text = ABSENT[FIRST][0]
    left, right = st.columns([1.15, 1], gap="large", vertical_alignment="center")
    with left, st.container(key="photograph_means"):
        _draw_detected(FIRST)
    with right:
        st.markdown(f"Asked for *{text}*, it looks here:")
        draw_spot(ask(PHOTOGRAPHS[FIRST].content, Question(text)), "photograph_absent", f"Where {text} looks")


def draw(card: dict[str, Any]) -> None:
    """Draw the figures, and those of each question; in a lecture what is found on the first photograph."""
    if "photographs" not in card:
        return
    if LECTURE.value:
        _draw_false_finds()
        return
    left, right = st.columns([1.15, 1], gap="large")
    means = card["photographs"]["temperature_1"]
    with left, st.container(key="photograph_means"):
        heading, shares = "Mean probability of what is there", [means[key] for key in MEANS]
        section(heading, Role.OUTPUT)
        note_picture(partial(bar_table, [*MEANS.values()], {"probability": shares}, SERIES), heading)
        st.html(bar_rows((title, share, SERIES[0]) for title, share in zip(MEANS.values(), shares, strict=True)))
        with st.container(key="desk_photograph_boxes"):
            of_picture, in_boxes = (percent(means[key]) for key in ("area_of_boxes", "weight_inside"))
            st.markdown(
                f"The right place is **{of_picture}** of the photograph, and gets **{in_boxes}** of the weight."
            )
            note("Twenty photographs, 24 things in boxes that we drew.")
    with right, st.container(key="desk_photograph_each"):
        questions = sorted(card["photographs"]["questions"], key=lambda row: -row["attended"])
        labels = [f"{row['photograph']}: {row['class']}" for row in questions]
        sure = [100 * row["attended"] for row in questions]
        chart = bars(sure, labels, title="asked for it, %", colour=SERIES[0], height=CHART_HEIGHT)
        draw_chart(chart, key="photograph_each", alt="Probability of each thing")
