"""Whose attention the atlas shows: a made-up text, a text through a model, a digit, tensors, a recorded run."""

import hashlib

import numpy as np
import streamlit as st
import torch

from attention_core.atlas.made_up import made_up, passage
from attention_core.data.drawing import CanvasRemark, prepare
from attention_core.packed import unpack_strokes
from ui.atlas import NAME
from ui.atlas.model_sources import run_source, text_source
from ui.atlas.shelf import MatrixSource
from ui.atlas.tensor_files import tensor_source
from ui.canvas import drawn_elsewhere, put_strokes, render_strokes, sound_strokes, strokes_text
from ui.digits import ask
from ui.navigation import opened_file, opened_recording
from ui.pixels.drawing import PAD
from ui.state import Field, choice, whole_number

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
MINE = "yours"


def _shown_first() -> str:
    if opened_file() is None:
        return f"{MADE}-echo-{FIRST_LENGTH}"
    return RUN if opened_recording() else TENSORS


def _known(text: str) -> str:
    if text.split("-")[0] not in SOURCES:
        raise ValueError(f"text must begin with a source, got {text!r}")
    return text


SHOWN = Field(NAME, "show", _shown_first, address="show", parse=_known)
"""The source with what is chosen of it, as in "made-echo-16384" or "digit-4"."""
STROKES = Field(NAME, "strokes", "", address="strokes", parse=sound_strokes, text=str)
"""Your drawing, packed, where it is shown: one and the same as on the page of pixels."""
FOLLOWED = Field(NAME, "followed_show", ("", ""))
"""What the choices below are set to; SHOWN and STROKES differ when they come from the address."""
SOURCE = Field(NAME, "source", MADE)
LENGTH, CHOSEN_DIGIT = Field(NAME, "length", FIRST_LENGTH), Field(NAME, "digit", "")
HEAD = Field(NAME, "head", 0, address="head", parse=whole_number)


def choose_source() -> MatrixSource | None:
    """Draw the choice and the chosen source's own input; return None where there is nothing to show yet."""
    if (SHOWN.value, STROKES.value) != FOLLOWED.value:
        _follow_address()
    SOURCE.widget(st.selectbox, "Map", list(SOURCES), format_func=SOURCES.__getitem__)
    draws = {MADE: _made_source, TEXT: text_source, DIGIT: _digit_source, TENSORS: tensor_source, RUN: run_source}
    source = draws[SOURCE.value]()
    is_mine = SOURCE.value == DIGIT and CHOSEN_DIGIT.value == MINE
    more = {MADE: f"-echo-{LENGTH.value}", DIGIT: "" if is_mine else f"-{CHOSEN_DIGIT.value}"}
    SHOWN.value = SOURCE.value + more.get(SOURCE.value, "")
    STROKES.value = strokes_text(drawn_elsewhere(PAD) or []) if is_mine else ""
    FOLLOWED.value = SHOWN.value, STROKES.value
    return source


def _follow_address() -> None:
    SOURCE.value, _, chosen = SHOWN.value.partition("-")
    if SOURCE.value == MADE:
        length = chosen.rpartition("-")[2]  # older links name one of several heads before it
        LENGTH.value = int(length) if length in map(str, LENGTHS) else FIRST_LENGTH
    elif SOURCE.value == DIGIT:
        CHOSEN_DIGIT.value = chosen or MINE
        if STROKES.value:
            put_strokes(PAD, unpack_strokes(STROKES.value))


def choose_head(source: MatrixSource) -> int:
    """Return which head is shown, from 0; a choice is offered where there is one."""
    last = source.n_heads - 1
    HEAD.within(0, last)
    if last:
        HEAD.widget(st.selectbox, "Head", range(last + 1), format_func=lambda head: f"{head + 1:,} (H{head} in code)")
    return HEAD.value


def _made_source() -> MatrixSource:
    n = LENGTH.widget(st.select_slider, "Words", LENGTHS, format_func="{:,}".format)
    first, again, length = passage(n)
    st.caption(
        "Words and vectors come from a formula, not from a model; the head looks for what followed last time. The "
        f"{length:,} words from {first + 1:,} on return at {again + 1:,}: find the line that they make."
    )
    return MatrixSource(f"{MADE}/{n}", f"What followed last time, {n:,} words", 1, lambda: made_up(n))


def _digit_source() -> MatrixSource | None:
    drawn = drawn_elsewhere(PAD)
    choices = [*PAD.presets, *([] if drawn is None else [MINE])]
    CHOSEN_DIGIT.among(choices, PAD.first if drawn is None else MINE)
    digit = choice("Digit", CHOSEN_DIGIT, choices, wrap=True)
    strokes = drawn if digit == MINE and drawn is not None else PAD.presets[digit]()
    drawing = prepare(render_strokes(strokes, PAD.size, "light"))
    st.caption("Every one of the 784 pixels asks every other. Draw your own on the page “Draw a digit”.")
    if drawing.remark is CanvasRemark.EMPTY:
        st.info("The pad on the page “Draw a digit” is empty. Draw there, or take one of the ten.")
        return None
    key = hashlib.sha1(np.ascontiguousarray(drawing.image).tobytes()).hexdigest()[:16]
    image = torch.from_numpy(drawing.image)
    title = "Your drawing" if digit == MINE else f"A drawn {digit}"
    return MatrixSource(f"{DIGIT}/{key}", title, 1, lambda: ask("pixel-classifier", image).traces[0])
