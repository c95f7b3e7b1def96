"""Whose attention the atlas shows: a made-up text, a text through a model, a digit, tensors, a recorded run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import streamlit as st
import torch

from attention_core.atlas.made_up import ECHO, HEADS, made_up, passage
from attention_core.attention.trace import AttentionTrace
from attention_core.data.drawing import Remark, prepare
from ui.canvas import Pad, digit_presets, drawn_elsewhere, render_strokes
from ui.digits import ask
from ui.labels import literal

MADE, TEXT, DIGIT, TENSORS, RUN = "made", "text", "digit", "tensors", "run"
SOURCES = {
    MADE: "A made-up text",
    TEXT: "My own text",
    DIGIT: "A drawn digit",
    TENSORS: "My queries and keys",
    RUN: "A run of a model",
}
LENGTHS = (2_048, 16_384, 65_536, 131_072)
FIRST_LENGTH = 16_384
MINE, FIRST_DIGIT = "yours", "7"
ADDRESS = "show"


class Source(NamedTuple):
    """A matrix that can be opened.

    Attributes:
        key: tells it from every other, for all visitors the same.
        title: for people.
        n_heads: to choose from.
        trace: makes the trace.
    """

    key: str
    title: str
    n_heads: int
    trace: Callable[[], AttentionTrace]


def made_source(name: str) -> Source:
    """Choose a head and a length; the text, queries and keys are made by a formula.

    Args:
        name: prefix of its state.
    """
    state = st.session_state
    asked = st.query_params.get(ADDRESS, "").split("-")
    if f"{name}_made" not in state:
        state[f"{name}_made"] = asked[1] if len(asked) == 3 and asked[1] in HEADS else next(iter(HEADS))
        length = int(asked[2]) if len(asked) == 3 and asked[2] in map(str, LENGTHS) else FIRST_LENGTH
        state[f"{name}_length"] = length
    kind = st.selectbox(
        "The head looks for", list(HEADS), format_func=HEADS.__getitem__, key=f"{name}_made", persist_state="session"
    )
    n = st.select_slider(
        "Words", LENGTHS, key=f"{name}_length", format_func=lambda one: f"{one:,}", persist_state="session"
    )
    first, again, length = passage(n)
    st.caption(
        f"Words and vectors come from a formula, not from a model. The {length:,} words from {first:,} on return at "
        f"{again:,}{': find the line that they make' if kind == ECHO else ''}."
    )
    write_address(ADDRESS, f"{MADE}-{kind}-{n}")
    return Source(f"{MADE}/{kind}/{n}", f"{HEADS[kind]}, {n:,} words", 1, lambda: made_up(kind, n))


def digit_source(name: str) -> Source | None:
    """Choose one of ten digits, or what was drawn on the page of pixels.

    Args:
        name: prefix of its state.
    """
    state = st.session_state
    presets, drawn = digit_presets(), drawn_elsewhere("pixels")
    choices = [*presets, *([MINE] if drawn is not None else [])]
    asked = st.query_params.get(ADDRESS, "").split("-")
    if state.get(f"{name}_digit") not in choices:
        first = MINE if drawn is not None else FIRST_DIGIT
        state[f"{name}_digit"] = asked[1] if len(asked) == 2 and asked[1] in presets else first
    digit = st.segmented_control(
        "Digit", choices, key=f"{name}_digit", required=True, wrap=True, persist_state="session"
    )
    pad = Pad("atlas", presets, first="7")
    drawing = prepare(
        drawn if digit == MINE and drawn is not None else render_strokes(presets[digit](), pad.size, "light")
    )
    st.caption("Every one of the 784 pixels asks every other. Draw your own on the page “Draw a digit”.")
    if drawing.remark is Remark.EMPTY:
        st.info("The pad on the page “Draw a digit” is empty. Draw there, or take one of the ten.")
        return None
    write_address(ADDRESS, DIGIT if digit == MINE else f"{DIGIT}-{digit}")
    key = hashlib.sha1(np.ascontiguousarray(drawing.image).tobytes()).hexdigest()[:16]
    image = torch.from_numpy(drawing.image)
    title = "Your drawing" if digit == MINE else f"A drawn {digit}"
    return Source(f"{DIGIT}/{key}", title, 1, lambda: ask("pixel-classifier", image).traces[0])


def write_address(field: str, value: str | None) -> None:
    """Put something into the page's address, or take it out; every change is a message to the browser."""
    if value is None:
        st.query_params.pop(field, None)
    elif st.query_params.get(field) != value:
        st.query_params[field] = value


def choose_head(name: str, source: Source) -> int:
    """Return which head is shown, from 0; a choice is offered where there is one.

    Args:
        name: prefix of its state.
        source: whose heads.
    """
    state, key = st.session_state, f"{name}_head"
    kept = state.get(key)
    state[key] = min(max(kept if isinstance(kept, int) else 0, 0), source.n_heads - 1)
    if source.n_heads == 1:
        return 0
    label = f"Head, 0 to {source.n_heads - 1:,}"
    return int(st.number_input(label, 0, source.n_heads - 1, step=1, key=key, persist_state="session"))


def complain(what: str, error: Exception) -> None:
    """Say in the page what is wrong with something that a visitor gave."""
    st.error(f"**{what}** {error}", icon=":material/error:")


def shown(text: str) -> str:
    """Return a visitor's text as Markdown that shows it as it is."""
    return literal(text, 48)
