"""Questions to the hall's phones, and their answers on the lecturer's screen."""

import re
from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention_core.attention.types import Axis, Step
from attention_core.attention.wording import percent
from attention_core.charts.chart import data_url
from attention_core.charts.matrix import guesses_chart
from attention_core.charts.overlay import image_png
from attention_core.charts.png import reduce_blocks
from attention_core.explain.guess import KeyPicture, options, row_values
from ui.chart import draw_chart
from ui.lecture.hall.corner import HAS_QUESTION, ROOM, Room
from ui.lecture.hall.rooms import ROOMS, HallQuestion, RoomError, Tally
from ui.navigation import entry_of
from ui.state import APP, PAGE, Field, widget_value

MAX_ROWS, MAX_COLUMNS, MAX_KEYS = 8, 8, 24
"""Of a matrix whose cells a finger can hit, and of a row whose keys fit a list; of more keys, three are offered."""
CHART_SIZE = 360
LAST_QUESTION = Field[HallQuestion | None](APP, "hall_asked", None)
"""The question that was asked last."""


def ask_hall(text: str, answers: Sequence[str]) -> None:
    """Ask the hall a question, both Markdown, if a room is open, and let the lecturer count hands."""
    if ROOM.value is not None:
        _ask(ROOM.value, HallQuestion(_title(), _plain(text), tuple(map(_plain, answers))))


def hall_verdict(correct: int) -> str:
    """Reveal the correct answer of this page's last question on the phones; returns how many were right, Markdown."""
    return "" if (tally := _reveal(LAST_QUESTION.value, [correct])) is None else _result_text(tally)


def ask_hall_for_largest(step: Step, head: int, row: int, picture: KeyPicture | None) -> bool:
    """Ask the hall for the largest number of a row, in a small matrix of any row; return whether it was asked."""
    if ROOM.value is None:
        return False
    question = _largest_question(step, head, row, picture)[0]
    _ask(ROOM.value, question)
    return bool(question.options)


def show_hall_guesses(step: Step, head: int, row: int, picture: KeyPicture | None) -> None:
    """Show everybody's guesses over a step's true numbers, and how many were right."""
    if ROOM.value is None:
        return
    question, values, axes = _largest_question(step, head, row, picture)
    if not question.options:  # all numbers of the row are alike
        return
    best = values.argmax(1) + np.arange(len(values)) * values.shape[1]
    correct = [int(values.argmax())] if question.picture else best.tolist()
    if (tally := _reveal(question, correct)) is not None:
        st.markdown(_result_text(tally))
        counts = np.reshape(tally.counts, values.shape)
        finite, key = np.where(np.isfinite(values), values, np.nan), f"hall_guesses_{question.fingerprint}"
        chart = guesses_chart(finite, counts, *axes, step.role, size=CHART_SIZE, picture=question.picture)
        draw_chart(chart, width="content", key=key, alt="Everybody's guesses, as circles")


def _largest_question(
    step: Step, head: int, row: int, picture: KeyPicture | None
) -> tuple[HallQuestion, np.ndarray, tuple[Axis, Axis]]:
    """Return the question for the largest number, and the numbers, (rows, columns), with their axes."""
    rows, columns = step.shape
    row_label = step.row_axis.labels[row]
    row_text, title = f"In the row of {row_label}: where is the largest number?", step.title
    if rows <= MAX_ROWS and columns <= MAX_COLUMNS:
        values = np.stack([row_values(step, head, index) for index in range(rows)])
        names = tuple(map(str, step.col_axis.labels))
        text = f"{title}: where is the largest number of a row?"
        question = HallQuestion(_title(), text, names * rows, columns, tuple(step.row_axis.labels))
        return question, values, (step.row_axis, step.col_axis)
    if picture and picture.shows(step.col_axis):
        return _blocks_question(step, row_values(step, head, row), row, picture)
    keys = list(range(columns)) if columns <= MAX_KEYS else options(step, head, row)
    names = tuple(str(step.col_axis.labels[key]) for key in keys)
    axes = Axis(step.row_axis.name, [row_label]), Axis(step.col_axis.name, names)
    return HallQuestion(_title(), f"{title}. {row_text}", names), row_values(step, head, row)[keys][None], axes


def _blocks_question(
    step: Step, values: np.ndarray, row: int, picture: KeyPicture
) -> tuple[HallQuestion, np.ndarray, tuple[Axis, Axis]]:
    """Return the question for the largest number in a picture, cut into blocks that a finger can hit."""
    height, width = picture.grid
    side = -(-max(picture.grid) // MAX_COLUMNS)
    blocks = reduce_blocks(values[: height * width].reshape(picture.grid), (side, side), np.fmax)
    down, across = (Axis.numbered(name, n) for name, n in zip(("rows", "columns"), blocks.shape, strict=True))
    names = tuple(f"column {label}" for label in across.labels) * len(down)
    question = HallQuestion(
        _title(),
        f"{step.title}: {picture_question(step, row, picture)}",
        names if blocks.min() < blocks.max() else (),
        len(across),
        tuple(f"row {label}" for label in down.labels),
        data_url(image_png(picture.with_query(step.row_axis, row))),
    )
    return question, blocks, (down, across)


def picture_question(step: Step, row: int, picture: KeyPicture) -> str:
    """Return the question where in a picture the largest number of a row is."""
    query = "the blue pixel" if step.row_axis.grid == picture.grid else step.row_axis.labels[row]
    return f"where in the picture is the largest number in the row of {query}?"


def _title() -> str:
    return entry_of(PAGE.value).title


def _ask(room: Room, question: HallQuestion) -> None:
    if not question.options:
        return
    HAS_QUESTION.value, LAST_QUESTION.value = True, question
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
    HAS_QUESTION.value = True
    return ROOMS.reveal(ROOM.value.code, question, correct)


def _result_text(tally: Tally) -> str:
    share = f", {percent(tally.n_correct / tally.n)}" if tally.n else ""
    return f"**The hall**: {tally.n_correct} of {tally.n} were right{share}."


def _count_hands(room: Room, question: HallQuestion) -> None:
    """Let the lecturer type how many hands were shown for each answer."""
    keys = [f"hall_hands_{question.fingerprint}_{option}" for option in range(len(question.options))]

    def on_count() -> None:
        ROOMS.raise_hands(room.code, question, [int(widget_value(key, 0) or 0) for key in keys])

    with st.popover("Count hands", icon=":material/back_hand:"):
        for key, option in zip(keys, question.options, strict=True):
            st.number_input(option, 0, 999, key=key, on_change=on_count)


def _plain(text: str) -> str:
    unmarked = re.sub(r":material/\w+:|:[a-z-]+\[", "", text)
    return re.sub(r"(?<!\\)[*_`\]]|\\(?=\W)", "", unmarked).strip()
