"""What a visitor arranged on the page of translations: models, the present word, forced words; plain values only."""

from __future__ import annotations

import time

import streamlit as st

from attention_core.topics.translate.translation import french_prefix, translation_of
from ui.aligned_words import chosen_row
from ui.next_words import chosen_piece
from ui.stepper import play_interval
from ui.translate.translations import TRANSLATORS

NAME = "translate"
SLOTS = ("upper", "lower")
FIRST = {"upper": "none", "lower": "additive"}
SECONDS_PER_WORD = 1.6
MOST_FORCED = 60
"""Pieces that may be forced; the sentence needs room to end."""


def begin() -> None:
    """Fill in what a visitor finds on arrival; a link may name the models and the beginning of the French."""
    state = st.session_state
    if f"{NAME}_at" in state:
        return
    state[f"{NAME}_at"] = 1
    state[f"{NAME}_forced"] = []
    state[f"{NAME}_before"] = []
    state[f"{NAME}_focus"] = "lower"
    asked = st.query_params.get("models", "").split(",")
    for place, slot in enumerate(SLOTS):
        wanted = asked[place] if place < len(asked) else ""
        state[f"{NAME}_model_{slot}"] = wanted if wanted in TRANSLATORS else FIRST[slot]
    state[f"{NAME}_prefix"] = st.query_params.get("begin", "")[:200]
    state[f"{NAME}_forced"] = french_prefix(state[f"{NAME}_prefix"])[:MOST_FORCED]


def changed() -> None:
    """Remember that more than a step changed, so that the whole page is drawn anew."""
    st.session_state[f"{NAME}_changed"] = True


def take_changed() -> bool:
    """Say whether more than a step changed since this was asked last."""
    return st.session_state.pop(f"{NAME}_changed", False)


def forced() -> tuple[int, ...]:
    """Return the pieces that every translation must begin with."""
    return tuple(st.session_state[f"{NAME}_forced"])


def model_in(slot: str) -> str:
    """Return which model stands in a slot."""
    return st.session_state[f"{NAME}_model_{slot}"]


def focus() -> str:
    """Return the slot whose model is stepped through."""
    return st.session_state[f"{NAME}_focus"]


def at() -> int:
    """Return the present target word, from 0."""
    return st.session_state[f"{NAME}_at"]


def go_to(row: int) -> None:
    """Make another target word the present one."""
    st.session_state[f"{NAME}_at"] = row


def new_sentence() -> None:
    """Begin anew with another sentence; what was forced can be brought back with undo."""
    st.session_state[f"{NAME}_at"] = 1
    _force([])


def take_click(slot: str) -> None:
    """Make the clicked word the present one, and its model the one that is stepped through."""
    row = chosen_row(f"{NAME}_{slot}")
    if row is not None:
        go_to(row)
        st.session_state[f"{NAME}_focus"] = slot


def take_choice() -> None:
    """Go on from the clicked next word, at the word after it."""
    choice = chosen_piece(NAME)
    if choice is not None and len(choice[1]) < MOST_FORCED:
        _force([*choice[1], choice[0]])
        go_to(at() + 1)


def take_prefix() -> None:
    """Force the beginning that was typed."""
    text = st.session_state[f"{NAME}_prefix"]
    _force(french_prefix(text)[:MOST_FORCED], text)


def undo() -> None:
    """Take back the last word or beginning that was forced."""
    state = st.session_state
    *earlier, last = state[f"{NAME}_before"] or [[]]
    _force(last)
    state[f"{NAME}_before"] = earlier


def set_free() -> None:
    """Let the models say what they want."""
    _force([])


def _force(pieces: list[int], text: str | None = None) -> None:
    state = st.session_state
    if pieces != state[f"{NAME}_forced"]:
        state[f"{NAME}_before"] = [*state[f"{NAME}_before"][-49:], state[f"{NAME}_forced"]]
    state[f"{NAME}_forced"] = pieces
    state[f"{NAME}_prefix"] = translation_of(pieces).text[:200] if text is None else text
    changed()


def write_address() -> None:
    """Put models and beginning into the address, so that a link reopens what somebody saw."""
    chosen = {slot: model_in(slot) for slot in SLOTS}
    wanted = {
        "models": "" if chosen == FIRST else ",".join(chosen.values()),
        "begin": st.session_state[f"{NAME}_prefix"],
    }
    for name, value in wanted.items():
        if value and st.query_params.get(name) != value:
            st.query_params[name] = value
        elif not value and name in st.query_params:
            del st.query_params[name]


def interval() -> float | None:
    """Return the seconds after which the page's fragment must run again, or None while nothing plays."""
    return SECONDS_PER_WORD if st.session_state.get(f"{NAME}_reading_on") else play_interval(NAME)


def toggle_play(n_rows: int) -> None:
    """Start or stop going from word to word."""
    state = st.session_state
    playing = not state.get(f"{NAME}_reading_on", False)
    state[f"{NAME}_reading_on"] = playing
    state[f"{NAME}_playing"] = False  # one clock at a time
    state[f"{NAME}_read_at"] = time.monotonic()
    if playing and at() >= n_rows - 1:
        go_to(0)
    changed()


def follow_play(n_rows: int) -> None:
    """Go to the next word when its time has come; stop at the last."""
    state = st.session_state
    if state.get(f"{NAME}_playing"):  # the steps began to play: one clock at a time
        state[f"{NAME}_reading_on"] = False
    if not state.get(f"{NAME}_reading_on"):
        return
    now = time.monotonic()
    if now - state[f"{NAME}_read_at"] >= 0.8 * SECONDS_PER_WORD:
        state[f"{NAME}_read_at"] = now
        go_to(min(at() + 1, n_rows - 1))
    if at() >= n_rows - 1:
        state[f"{NAME}_reading_on"] = False
        st.rerun()
