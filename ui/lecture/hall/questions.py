"""Questions to the hall's phones, and their answers on the lecturer's screen."""

import re
from collections.abc import Sequence

import streamlit as st

from attention_core.attention.wording import percent
from ui.lecture.hall.corner import HAS_QUESTION, ROOM, Room, refusal_in_corner
from ui.lecture.hall.rooms import ROOMS, HallQuestion, RoomError
from ui.navigation import entry_of
from ui.state import APP, PAGE, Field, widget_value

LAST_QUESTION = Field[HallQuestion | None](APP, "hall_asked", None)
"""The question that was asked last."""


def ask_hall(text: str, answers: Sequence[str]) -> None:
    """Ask the hall a question, both Markdown, if a room is open, and let the lecturer count hands."""
    if ROOM.value is None:
        return
    question = HallQuestion(_title(), _plain(text), tuple(map(_plain, answers)))
    HAS_QUESTION.value, LAST_QUESTION.value = True, question
    try:
        ROOMS.ask(ROOM.value.code, question)
    except RoomError as error:
        st.warning(str(error))
        return
    _count_hands(ROOM.value, question)


def hall_verdict(correct: int) -> str:
    """Reveal the correct answer of this page's last question on the phones; returns how many were right, Markdown."""
    question = LAST_QUESTION.value
    if ROOM.value is None or question is None or question.page != _title():
        return ""
    HAS_QUESTION.value = True
    tally = None
    with refusal_in_corner():
        tally = ROOMS.reveal(ROOM.value.code, question, [correct])
    if tally is None:
        return ""
    share = f", {percent(tally.n_correct / tally.n)}" if tally.n else ""
    return f"**The hall**: {tally.n_correct} of {tally.n} were right{share}."


def _title() -> str:
    return entry_of(PAGE.value).title


def _count_hands(room: Room, question: HallQuestion) -> None:
    """Let the lecturer type how many hands were shown for each answer."""
    keys = [f"hall_hands_{question.fingerprint}_{option}" for option in range(len(question.options))]

    def on_count() -> None:
        with refusal_in_corner():
            ROOMS.raise_hands(room.code, question, [int(widget_value(key, 0) or 0) for key in keys])

    with st.popover("Count hands", icon=":material/back_hand:"):
        for key, option in zip(keys, question.options, strict=True):
            st.number_input(option, 0, 999, key=key, on_change=on_count)


def _plain(text: str) -> str:
    unmarked = re.sub(r":material/\w+:|:[a-z-]+\[", "", text)
    return re.sub(r"(?<!\\)[*_`\]]|\\(?=\W)", "", unmarked).strip()
