"""The pad of the page: a number on it, what is read there, remarks on the drawing."""

import re
from functools import partial

import numpy as np
import streamlit as st

from attention_core.data.drawing import Stroke, smooth_path
from attention_core.data.presets import number_strokes
from attention_core.data.scenes import MAX_DIGITS
from attention_core.inference import number_reading
from attention_core.inference.number_reading import NumberRemark, ReadDrawing
from ui.canvas import Pad, draw_pad, inked_share, render_strokes
from ui.computed import by_model
from ui.state import Field

NAME, MODEL = "read", "digit-reader"
LAST = Field[ReadDrawing | None](NAME, "last", None)
"""The last drawing that could be read: its reading stays while there is nothing to read."""
PAD_SIZE = (144, 576)
REMARKS = {
    NumberRemark.EMPTY: "Write a number on the pad, one to "
    f"{MAX_DIGITS} digits from left to right, or take one from below it.",
    NumberRemark.SINGLE_COLOUR: "The whole pad has one colour. Undo takes the last stroke away.",
    NumberRemark.COVERED: "Most of the pad is painted over: the rarer colour is taken for ink.",
    NumberRemark.DOT: "That is a dot. Keep writing: a digit needs a stroke or two.",
    NumberRemark.TOUCHING: "Some digits seem to touch or overlap. The reader learned from numbers with gaps.",
    NumberRemark.LONG: f"These seem to be more digits than the {MAX_DIGITS} that the reader was trained on.",
    NumberRemark.NOTHING: "As learned, it says “end” at once: it sees no digit.",
    NumberRemark.UNFINISHED: "As learned, it comes to no end, and is stopped after eight looks. "
    f"It was trained on up to {MAX_DIGITS} digits.",
}
read_drawing = by_model(number_reading.read_drawing)


def _is_number(text: str) -> bool:
    return re.fullmatch(f"[0-9]{{1,{MAX_DIGITS}}}", text) is not None


def _number_strokes(number: str) -> list[Stroke]:
    """Return the strokes of a number: a preset is neat, any other looks handwritten, the same each time."""
    strokes = number_strokes(number, PAD_SIZE, None if number in PRESETS else np.random.default_rng(int(number)))
    return [stroke._replace(path=smooth_path(stroke.path, 3).round(1)) for stroke in strokes]


PRESETS = {number: partial(_number_strokes, number) for number in ("7", "42", "2026", "31415", "271828", "5555")}
PAD = Pad(
    NAME,
    PRESETS,
    "31415",
    PAD_SIZE,
    address="number",
    pen_width=10,
    from_address=lambda number: _number_strokes(number) if _is_number(number) else None,
)


def number_pad() -> tuple[ReadDrawing, bool]:
    """Draw the pad with its presets; return the drawing with its reading, or the last that could be read, and if so."""
    with st.container(key="read_pad"):
        pad = draw_pad(PAD)
        drawing = read_drawing(MODEL, pad.canvas, bool(pad.strokes), inked_share(pad.canvas, pad.paper))
        for remark in drawing.remarks if isinstance(drawing, ReadDrawing) else (drawing,):
            st.info(REMARKS[remark])
    if isinstance(drawing, ReadDrawing):
        LAST.value = drawing
        return drawing, True
    return LAST.value or readable(render_strokes(PRESETS[PAD.first](), PAD_SIZE, "light")), False


def readable(canvas: np.ndarray) -> ReadDrawing:
    """Read a canvas that is known to be readable."""
    drawing = read_drawing(MODEL, canvas, True, 0.0)
    if not isinstance(drawing, ReadDrawing):
        raise ValueError(f"nothing can be read on the canvas: {drawing}")
    return drawing
