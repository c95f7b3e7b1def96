"""The pad of the page on finding a digit: a digit off the middle, clutter to scatter and to erase, remarks."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from attention_core.data.canvases import CanvasRemark, InkPicture
from attention_core.data.parts import PartsRemark, parts_remark
from attention_core.data.sketches import CLUTTER_WIDTH, Stroke, clutter_strokes, hidden_digit
from ui.canvas import Pad, PadState, put_strokes, remove_strokes

NAME = "find"
SIDE = 256
MOST_CLUTTER, PIECES_AT_ONCE = 96, 8
PLACES = (
    (0.74, 0.27, 0.3), (0.2, 0.66, 0.36), (0.72, 0.7, 0.28), (0.27, 0.3, 0.27), (0.7, 0.62, 0.48),
    (0.33, 0.62, 0.56), (0.66, 0.3, 0.38), (0.24, 0.24, 0.31), (0.47, 0.76, 0.29), (0.6, 0.42, 0.62),
)  # fmt: skip
"""Of the ten ready drawings: the digit's middle, x and y, and its height, as shares of the canvas."""
REMARKS = {
    CanvasRemark.EMPTY: "Draw a digit anywhere on the pad, or take one of the ten below it. Then scatter clutter.",
    CanvasRemark.DOT: "That is a dot. Keep drawing: a digit needs a stroke or two.",
    CanvasRemark.FULL: "Most of the canvas is ink, so there is hardly a shape left to find. The network answers all "
    "the same; Undo brings back what was there.",
    PartsRemark.SMALL: "Nothing here is as tall as the digits that the network knows, a quarter of the canvas or "
    "more. It must name one of ten all the same.",
    PartsRemark.LARGE: "Something reaches across the canvas. The network knows digits up to three quarters of its "
    "height, but it answers all the same.",
    PartsRemark.SEVERAL: "These look like several digits. The network was taught to name one: see which of them "
    "the mask takes, or whether it is torn.",
}
ONE_COLOUR = (
    "The whole canvas is one colour, so there is nothing to find. Undo takes the last stroke away, nothing is lost."
)


def _ready(digit: int) -> list[Stroke]:
    x, y, height = PLACES[digit]
    middle = (x * SIDE, y * SIDE)
    return hidden_digit(digit, middle, height * SIDE, SIDE, np.random.default_rng(digit))


PAD = Pad(
    NAME,
    {str(digit): partial(_ready, digit) for digit in range(10)},
    first="3",
    size=(SIDE, SIDE),
    help="Hide a {} for me",
    pen_width=12,
    eraser=True,
)


def clutter_buttons() -> None:
    """Draw the buttons that strew clutter over the pad, take it away, and hide a digit anew."""
    objects = st.session_state[f"{NAME}_drawing"].get("objects", [])
    there = sum(abs(one.get("strokeWidth", 0) - CLUTTER_WIDTH) < 1e-6 for one in objects)
    with st.container(horizontal=True, gap="xsmall", key=f"{NAME}_clutter_examples"):
        st.button(
            "Scatter clutter",
            key=f"{NAME}_scatter",
            on_click=_scatter,
            disabled=there >= MOST_CLUTTER,
            help=f"{PIECES_AT_ONCE} more bits of digits, anywhere, also across the digit",
        )
        st.button("Erase clutter", key=f"{NAME}_erase", on_click=_erase, disabled=there == 0)
        st.button("Hide a random digit", key=f"{NAME}_hide", on_click=_hide, help="Any digit, anywhere, in any size")


def _scatter() -> None:
    put_strokes(PAD, clutter_strokes(PIECES_AT_ONCE, SIDE, np.random.default_rng()), add=True)
    st.query_params.pop(PAD.address, None)


def _erase() -> None:
    remove_strokes(PAD, CLUTTER_WIDTH)
    st.query_params.pop(PAD.address, None)


def _hide() -> None:
    rng = np.random.default_rng()
    height = SIDE * rng.uniform(0.26, 0.55)
    x, y = rng.uniform(0.55 * height, SIDE - 0.55 * height, 2).tolist()
    put_strokes(PAD, hidden_digit(int(rng.integers(10)), (x, y), height, SIDE, rng))
    st.query_params.pop(PAD.address, None)


def remark_on(seen: InkPicture, pad: PadState) -> str:
    """Return what a person should be told about the drawing, or ""."""
    if seen.remark is CanvasRemark.EMPTY and pad.strokes:
        return ONE_COLOUR
    remark = seen.remark or parts_remark(seen.picture)
    return REMARKS[remark] if remark else ""
