"""Questions that go to the hall's phones, and what came back, on the lecturer's screen."""

import re
from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention_core.attention.types import Axis, Step
from attention_core.attention.wording import percent
from attention_core.charts.chart import data_url
from attention_core.charts.heatmap import block, guesses_chart
from attention_core.charts.overlay import image_png
from attention_core.explain.guess import KeyPicture, options, row_values
from ui.chart import draw_chart
from ui.lecture.hall.corner import IS_ASKED, ROOM, Room
from ui.lecture.hall.rooms import ROOMS, HallQuestion, RoomError, Tally
from ui.navigation import entry_of
from ui.state import APP, PAGE, Field, widget_value

MOST_ROWS, MOST_COLUMNS, MOST_KEYS = 8, 8, 24
"""Of a matrix whose cells a finger can hit, and of a row whose keys fit a list; beyond, three keys are offered."""
SIZE = 360
ASKED = Field[HallQuestion | None](APP, "hall_asked", None)
"""The question that was asked last."""


def ask_hall(text: str, answers: Sequence[str]) -> None:
    """Ask the hall a question, both Markdown, if a room is open, and let the lecturer count hands."""
    if ROOM.value is not None:
        _ask(ROOM.value, HallQuestion(_title(), _plain(text), tuple(map(_plain, answers))))


def hall_verdict(correct: int) -> str:
    """Show the phones what was right of the question that this page asked last; returns how many were, Markdown."""
    return "" if (tally := _reveal(ASKED.value, [correct])) is None else _words(tally)


def ask_hall_about(step: Step, head: int, row: int, picture: KeyPicture | None) -> bool:
    """Ask the hall where the largest number of a step's row is, of a small matrix of any row; return whether it did."""
    if ROOM.value is None:
        return False
    question = _about(step, head, row, picture)[0]
    _ask(ROOM.value, question)
    return bool(question.options)


def show_hall_about(step: Step, head: int, row: int, picture: KeyPicture | None) -> None:
    """Show everybody's guesses over a step's true numbers, and how many were right."""
    if ROOM.value is None:
        return
    question, values, axes = _about(step, head, row, picture)
    if not question.options:  # all numbers of the row are alike
        return
    best = values.argmax(1) + np.arange(len(values)) * values.shape[1]
    places = [int(values.argmax())] if question.picture else best.tolist()
    if (tally := _reveal(question, places)) is not None:
        st.markdown(_words(tally))
        counts = np.reshape(tally.counts, values.shape)
        finite, about = np.where(np.isfinite(values), values, np.nan), question.picture
        chart = guesses_chart(finite, counts, *axes, step.role, size=SIZE, picture=about)
        draw_chart(chart, width="content", key=f"hall_guesses_{question.mark}", alt="Everybody's guesses, as circles")


def _about(
    step: Step, head: int, row: int, picture: KeyPicture | None
) -> tuple[HallQuestion, np.ndarray, tuple[Axis, Axis]]:
    """Return a question, and the numbers that it is about, (rows, columns), with their axes."""
    rows, columns = step.shape
    asks = step.row_axis.labels[row]
    where, what = f"In the row of {asks}: where is the largest number?", step.title
    if rows <= MOST_ROWS and columns <= MOST_COLUMNS:
        values = np.stack([row_values(step, head, one) for one in range(rows)])
        names = tuple(map(str, step.col_axis.labels))
        text = f"{what}: where is the largest number of a row?"
        question = HallQuestion(_title(), text, names * rows, columns, tuple(step.row_axis.labels))
        return question, values, (step.row_axis, step.col_axis)
    if picture and picture.shows(step.col_axis):
        return _about_picture(step, row_values(step, head, row), row, picture)
    keys = list(range(columns)) if columns <= MOST_KEYS else options(step, head, row)
    names = tuple(str(step.col_axis.labels[key]) for key in keys)
    axes = Axis(step.row_axis.name, [asks]), Axis(step.col_axis.name, names)
    return HallQuestion(_title(), f"{what}. {where}", names), row_values(step, head, row)[keys][None], axes


def _about_picture(
    step: Step, values: np.ndarray, row: int, picture: KeyPicture
) -> tuple[HallQuestion, np.ndarray, tuple[Axis, Axis]]:
    """Return a question about parts of a picture that a finger can hit, and the largest number of each."""
    height, width = picture.grid
    side = -(-max(picture.grid) // MOST_COLUMNS)
    parts = block(values[: height * width].reshape(picture.grid), (side, side), np.fmax.reduceat)
    down, across = (Axis.numbered(name, n) for name, n in zip(("rows", "columns"), parts.shape, strict=True))
    names = tuple(f"column {label}" for label in across.labels) * len(down)
    question = HallQuestion(
        _title(),
        f"{step.title}: {where_in_picture(step, row, picture)}",
        names if parts.min() < parts.max() else (),
        len(across),
        tuple(f"row {label}" for label in down.labels),
        data_url(image_png(picture.with_query(step.row_axis, row))),
    )
    return question, parts, (down, across)


def where_in_picture(step: Step, row: int, picture: KeyPicture) -> str:
    """Return the question where in a picture the largest number of a row is."""
    asks = "the blue pixel" if step.row_axis.grid == picture.grid else step.row_axis.labels[row]
    return f"where in the picture is the largest number in the row of {asks}?"


def _title() -> str:
    return entry_of(PAGE.value).title


def _ask(room: Room, question: HallQuestion) -> None:
    if not question.options:
        return
    IS_ASKED.value, ASKED.value = True, question
    try:
        ROOMS.ask(room.code, question)
    except RoomError as error:
        st.warning(str(error))
        return
    if not question.columns:
        _count_hands(room, question)


def _reveal(question: HallQuestion | None, correct: list[int]) -> Tally | None:
    if ROOM.value is None or question is None or question.page != _title():
        return None
    IS_ASKED.value = True
    return ROOMS.reveal(ROOM.value.code, question, correct)


def _words(tally: Tally) -> str:
    share = f", {percent(tally.n_correct / tally.n)}" if tally.n else ""
    return f"**The hall**: {tally.n_correct} of {tally.n} were right{share}."


def _count_hands(room: Room, question: HallQuestion) -> None:
    """Let the lecturer type how many hands were shown for each answer."""
    keys = [f"hall_hands_{question.mark}_{option}" for option in range(len(question.options))]

    def take() -> None:
        ROOMS.raise_hands(room.code, question, [int(widget_value(key, 0) or 0) for key in keys])

    with st.popover("Count hands", icon=":material/back_hand:"):
        for key, option in zip(keys, question.options, strict=True):
            st.number_input(option, 0, 999, key=key, on_change=take)


def _plain(text: str) -> str:
    words = re.sub(r":material/\w+:|:[a-z-]+\[", "", text)
    return re.sub(r"(?<!\\)[*_`\]]|\\(?=\W)", "", words).strip()
