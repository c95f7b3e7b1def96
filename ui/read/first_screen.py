"""The first screen: a number on the pad, how it is read, and what is worth a remark."""

import re
from collections.abc import Collection, Sequence
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core.data.drawing import Stroke, smooth_path
from attention_core.data.presets import number_strokes
from attention_core.data.scenes import MAX_DIGITS
from attention_core.device import to_array
from attention_core.models.digit_reader import CLASSES, END, DigitReading
from attention_core.topics import read
from attention_core.topics.read import NumberRemark, ReadDrawing
from ui.canvas import PAPER, Pad, drawing_pad, put_strokes, render_strokes
from ui.digits import by_model
from ui.state import Field, widget_value

NAME, MODEL = "read", "digit-reader"
REFUSED = Field(NAME, "refused", False)  # whether what was typed is no number
LAST = Field[ReadDrawing | None](NAME, "last", None)
"""The last drawing that could be read: its reading stays while there is nothing to read."""
SIZE = (144, 576)
COLUMNS = [1.68, 1]
"""The pad, and whatever stands under it, beside the answers."""
ZOOMS = "".join(
    f"@container (max-width: {SIZE[1] * (percent + 5) / 100 - 1:g}px) "
    f"{{ :is(.st-key-read_canvas_frame, .st-key-read_looks) {{ zoom: {percent}%; }} }}"
    for percent in range(95, 40, -5)
)
STYLE = f"""<style>
{ZOOMS}
.st-key-read_pad {{ container-type: inline-size; }}
.st-key-read_pad > :has(> .st-key-read_canvas_frame) {{ order: -2; }}
.st-key-read_pad > :has(> .st-key-read_looks) {{ order: -1; margin: -0.6rem 0 0 1px; }}
.st-key-read_canvas_frame {{ min-height: {SIZE[0] + 2}px; }} .st-key-read_looks {{ min-height: 13.2rem; }}
[class*="st-key-read_presets"] {{ display: flex; flex-wrap: wrap; max-width: none; }}
[class*="st-key-read_presets"] button {{ width: auto; min-height: 2rem; padding: 0.1rem 0.6rem; }}
.st-key-read_typed, .st-key-read_canvas_frame {{ max-width: {SIZE[1] + 2}px; }}
.reading {{ display: flex; flex-wrap: wrap; gap: 6px; margin: 2px 0 6px; }}
.reading div {{ position: relative; min-width: 40px; padding: 2px 8px 9px; text-align: center; border-radius: 4px;
  background: #8a93a01f; font-variant-numeric: tabular-nums; }}
.reading b {{ display: block; font-size: 1.7rem; font-weight: 600; line-height: 1.25; }}
.reading small {{ font-size: 0.78rem; opacity: 0.8; }}
.reading i {{ position: absolute; left: 0; bottom: 0; height: 4px; border-radius: 2px; background: #0072B2; }}
.reading .end b {{ font-size: 1.05rem; line-height: 2.125rem; font-weight: 500; }}
.reading .end i {{ background: #8a93a0; }}
.reading .blind {{ outline: 1.5px dashed #8a93a0; outline-offset: -1px; }}
</style>"""
HARD = f"More digits than the reader was trained on: numbers of one to {MAX_DIGITS}. "
REMARKS = {
    NumberRemark.EMPTY: "Write a number on the pad, one to "
    f"{MAX_DIGITS} digits from left to right, or take one from below it.",
    NumberRemark.ONE_COLOUR: "The whole pad has one colour. Undo takes the last stroke away.",
    NumberRemark.COVERED: "Most of the pad is painted over: the rarer colour is taken for ink. Undo takes the last "
    "stroke away.",
    NumberRemark.DOT: "That is a dot. Keep writing: a digit needs a stroke or two.",
    NumberRemark.TOUCHING: "Some digits seem to touch or overlap. The reader learned from numbers with gaps.",
    NumberRemark.LONG: HARD + "It may leave some out, or read one twice.",
    NumberRemark.NOTHING: "It says “end” at once: it sees nothing that it takes for a digit.",
    NumberRemark.UNFINISHED: HARD + "It did not come to an end, and was stopped after eight looks.",
}


read_drawing = by_model(read.read_drawing)


def numbered(labels: Sequence[str]) -> list[str]:
    return [f"look {number}: {label}" for number, label in enumerate(labels, 1)]


def maps_of(reading: DigitReading) -> np.ndarray:
    """Return the weights of every look as a picture, float (n_looks, rows, columns)."""
    return to_array(reading.trace.weights()).reshape(-1, *reading.trace.story.key_axis.grid)  # type: ignore[misc]


def _is_number(text: str) -> bool:
    return re.fullmatch(f"[0-9]{{1,{MAX_DIGITS}}}", text) is not None


def _strokes(number: str) -> list[Stroke]:
    """Return a number as strokes: presets neat, others as if by hand, the same each time."""
    strokes = number_strokes(number, SIZE, None if number in PRESETS else np.random.default_rng(int(number)))
    return [stroke._replace(path=smooth_path(stroke.path, 3).round(1)) for stroke in strokes]


PRESETS = {number: partial(_strokes, number) for number in ("7", "42", "1809", "31415", "271828", "5555")}
PAD = Pad(
    NAME,
    PRESETS,
    "31415",
    SIZE,
    address="number",
    pen_width=10,
    from_address=lambda asked: _strokes(asked) if _is_number(asked) else None,
)


def number_pad() -> tuple[ReadDrawing, bool, DeltaGenerator]:
    """Draw the pad with its presets and a box that writes any number.

    Returns:
        what is drawn, read; whether that is so: where nothing can be read it is what was drawn before; the place for
            what stands straight under the drawing.
    """
    st.html(STYLE)
    place = st.container(key="read_pad")
    with place:
        pad = drawing_pad(PAD)
    st.text_input(
        "Write a number for me",
        key="read_typed",
        placeholder="or type a number, and it is written for you",
        label_visibility="collapsed",
        max_chars=40,
        on_change=_draw_typed,
    )
    if REFUSED.value:
        st.info(f"Only the digits 0 to 9, one to {MAX_DIGITS} of them, can be written. The pad is as it was.")
    drawing = read_drawing(MODEL, pad.canvas, pad.strokes, PAPER[pad.paper])
    for remark in drawing.remarks if isinstance(drawing, ReadDrawing) else (drawing,):
        st.info(REMARKS[remark])
    if isinstance(drawing, ReadDrawing):
        LAST.value = drawing
        return drawing, True, place
    return LAST.value or _first_drawing(), False, place


def _first_drawing() -> ReadDrawing:
    strokes = PRESETS[PAD.first]()
    canvas = render_strokes(strokes, SIZE, "light")
    return read_drawing(MODEL, canvas, [stroke.path for stroke in strokes], PAPER["light"])  # type: ignore[return-value]


def _draw_typed() -> None:
    typed = widget_value("read_typed").strip()
    REFUSED.value = bool(typed) and not _is_number(typed)
    if _is_number(typed):
        put_strokes(PAD, _strokes(typed), told=typed)


def cards(reading: DigitReading, blind: Collection[int] = ()) -> str:
    """Return HTML with a card per look: what it read, how probable that is, and which were blind."""
    parts = []
    for look, row in enumerate(reading.probabilities.tolist()):
        best = int(np.argmax(row))
        kind = " ".join(name for name, holds in (("end", best == END), ("blind", look in blind)) if holds)
        parts.append(
            f'<div class="{kind}"><b>{CLASSES[best]}</b><small>{row[best]:.0%}</small>'
            f'<i style="width:{row[best]:.1%}"></i></div>'
        )
    words = f"Reads {reading.digits or 'nothing'}"
    return f'<div class="reading" role="img" aria-label="{words}">{"".join(parts)}</div>'
