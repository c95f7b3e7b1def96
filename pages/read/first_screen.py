"""The first screen: a number on its pad, and look after look the digits that are read."""

from functools import partial

import numpy as np
import streamlit as st

from attention_core.attention.edits import Uniform
from attention_core.attention.view.scene import picture_scene_data
from attention_core.charts.overlay import image_png, overlay_strip
from attention_core.device import to_array
from attention_core.inference.number_reading import ReadDrawing, labels_of
from attention_core.models.digit_reader import CLASSES, DigitReading
from pages.read.changes import AFTER, EDITS, ChangedReading, read_again, read_changed
from pages.read.numbers import WALK
from pages.read.pad import MODEL, NAME, PAD, number_pad
from ui.canvas import PAPER
from ui.chart import note_picture, picture_address
from ui.component import component
from ui.layout import grey_out
from ui.scene import draw_picture_scene
from ui.state import Field
from ui.try_this import TryThis, is_guessing

IS_EVEN = Field(NAME, "even", False, address="even")
"""Whether the scene shows what comes of equal weights."""
LOOK = Field(NAME, "scene_look", ((0, ""), 0))
"""The look at which the scene rests, from 0, and before it the reading in which it was chosen; in others the last."""
N_ANSWERS, PIECE_SIDE = 3, 9
NOTE = (
    "Blue: its state, named by what is read. Orange: what it takes. Pink: where it looks, its strongest half. "
    "A region sees its surroundings, too."
)
_scene = component("reading_scene", folder="pages/read")


def draw_read_number() -> ChangedReading:
    """Draw the pad, and the scene of how the number is read; return how it is."""
    with st.container(key="read_first"):
        scene = st.container(key="read_answer")
        drawing, is_present = number_pad()
        changed = read_changed(drawing)
        with scene:
            _draw_reading_scene(changed, is_empty=not is_present)
    grey_out("read_answer", not is_present)
    return changed


def _draw_reading_scene(changed: ChangedReading, *, is_empty: bool) -> None:
    """Draw look after look; the pad `is_empty` where an earlier drawing is shown."""
    reading, canvas = changed.reading, changed.drawing.canvas
    trace, labels, n_looks = reading.trace, labels_of(reading), len(reading.probabilities)
    weights = to_array(trace.weights()).reshape(-1, *trace.story.key_axis.picture_grid)
    note_picture(partial(overlay_strip, canvas, weights, labels), "Every look")
    start = changed.drawing.reading.states[changed.after]
    uniform = read_again(MODEL, changed.drawing.picture, start=start, edits=(Uniform(),))
    already = changed.drawing.labels[: changed.after]
    states = ["".join([*already, *labels[:look]]) for look in range(n_looks)]
    data = picture_scene_data(
        [trace] * n_looks,
        picture_address(image_png(canvas)),
        [[(state or "nothing", 0)] for state in states],
        [_number_read(reading)],
        [_number_read(uniform)],
        queries=range(n_looks),
    )
    for look, row, state in zip(data["looks"], reading.probabilities.tolist(), states, strict=True):
        best = np.argsort(row)[::-1][:N_ANSWERS].tolist()
        look |= {"answer": [(CLASSES[index], row[index], "") for index in best]}
        look["asks"] = f"the **state**, {f'with {state} read' if state else 'a learned one'}, asks **every region**."
    data |= {"near": PIECE_SIDE, "mixes": True, "isEven": IS_EVEN.value, "plays": True, "note": NOTE}
    data |= {"pad": NAME, "paper": PAPER[PAD.paper.value], "isEmpty": is_empty}
    if changed.is_changed:
        data["learned"] = [_number_read(changed.drawing.reading)]
        data["changed"] = f"{already[-1]} already read" if already else "as changed"
    present, (chosen, look) = (changed.after, data["picture"]), LOOK.value
    data |= {"covered": is_guessing(NAME), "query": look if chosen == present else n_looks - 1}

    def on_look(look: int) -> None:
        LOOK.value, WALK.field.value = (present, look), look

    def on_even(is_even: bool) -> None:
        IS_EVEN.value = is_even
        LOOK.reset()
        if not is_even:
            AFTER.reset()
            EDITS.reset()

    draw_picture_scene(NAME, data, on_look, on_even, scene=_scene)


def _number_read(reading: DigitReading) -> tuple[str, float, str]:
    """Return the number that is read, and the probability of all its digits and the end."""
    digits = (reading.digits or "nothing") + ("" if reading.is_finished else " …")
    return digits, float(reading.probabilities.max(1).values.prod()), ""


def read_later(drawing: ReadDrawing) -> TryThis:
    digits, remainder = drawing.reading.digits, drawing.reading.digits[1:] or "the end"

    def act() -> None:
        AFTER.value = 1
        EDITS.reset()
        IS_EVEN.reset()

    def outcome() -> tuple[int, str]:
        reread = read_again(MODEL, drawing.picture, start=drawing.reading.states[1]).digits or "the end"
        text = "The picture is the same: its state alone knows how far it has come."
        return (1, text) if reread == remainder else (0 if reread == digits else 2, f"Then it reads *{reread}*.")

    return TryThis(
        f"pretend the {digits[0]} is already read" if digits else "pretend the first digit is already read",
        "Pretend it has already read the first digit. What will it read?",
        (f"{digits or 'Nothing'} again", f"Only {remainder}", "Something else"),
        act,
        outcome,
        "read_answer",
        subject=AFTER.value,
    )
