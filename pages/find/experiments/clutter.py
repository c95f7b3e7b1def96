"""How much clutter does it bear? The visitor's digit alone, and among more and more clutter."""

from typing import NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core import UNIFORM
from attention_core.attention.wording import format_count, percent
from attention_core.data.drawing import Stroke
from attention_core.data.presets import CLUTTER_WIDTH, clutter_between
from pages.find import first_screen as screen
from pages.find.inputs import draw_drawing
from ui.canvas import render_strokes
from ui.chart import draw_map

N_PIECES = 0, 12, screen.MAX_CLUTTER


class ClutteredDigit(NamedTuple):
    """The visitor's digit among some clutter, and what is read in it."""

    n_pieces: int
    canvas: np.ndarray
    masks: np.ndarray  # (2, rows, columns): learned, equal
    probabilities: np.ndarray  # (2, 10)


def draw_input() -> tuple[list[ClutteredDigit], DeltaGenerator]:
    """Draw the pad; return its digit among more and more clutter, and the container beside the pad."""
    _, beside = draw_drawing()
    strokes = [stroke for stroke in screen.PAD.last_readable.value if abs(stroke.width - CLUTTER_WIDTH) > 1e-6]
    pieces = clutter_between(strokes, screen.MAX_CLUTTER, screen.SIDE, np.random.default_rng(0))
    return [_read_among(strokes, pieces[:n]) for n in N_PIECES], beside


def _read_among(strokes: list[Stroke], pieces: list[Stroke]) -> ClutteredDigit:
    canvas = render_strokes([*pieces, *strokes], screen.PAD.size, screen.PAD.paper.value)
    masks, probabilities = screen.try_edits(screen.MODEL, screen.ink_and_remark(canvas)[0].picture, ((), UNIFORM))
    return ClutteredDigit(len(pieces), canvas, masks, probabilities)


def answer(inputs: tuple[list[ClutteredDigit], DeltaGenerator]) -> str:
    """Say what is read alone, and in most clutter."""
    uncluttered, *_, cluttered = inputs[0]
    digit = uncluttered.probabilities[0].argmax()
    learned, equal = cluttered.probabilities.argmax(1)
    verb = "still reads" if learned == digit else "reads"
    pieces = format_count(cluttered.n_pieces, "pieces")
    return f"Alone it reads **{digit}**; among {pieces} it {verb} **{learned}**, with every weight equal **{equal}**."


def draw(inputs: tuple[list[ClutteredDigit], DeltaGenerator]) -> None:
    """Draw the mask over each drawing, and what is read with it and with equal weights."""
    cluttered, beside = inputs
    high = float(max(digit.masks[0].max() for digit in cluttered))
    for column, digit in zip(beside.columns(len(cluttered)), cluttered, strict=True):
        with column:
            name = f"Among {format_count(digit.n_pieces, 'pieces')}" if digit.n_pieces else "Alone"
            st.markdown(f"**{name}**")
            draw_map(digit.masks[0], digit.canvas, f"find_among_{digit.n_pieces}", name, size=230, high=high)
            for title, probabilities in zip(("As learned", "Every weight equal"), digit.probabilities, strict=True):
                st.markdown(f"{title}: **{probabilities.argmax()}** ({percent(probabilities.max())})")
