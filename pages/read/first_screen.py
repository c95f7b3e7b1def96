"""The first screen: where each look goes, under the pad, and the digits that are read."""

from collections.abc import Collection

import numpy as np
import streamlit as st

from attention_core.attention.edits import Uniform
from attention_core.attention.types import Role
from attention_core.attention.wording import format_count, percent
from attention_core.charts.overlay import glow_ramp, map_png
from attention_core.device import to_array
from attention_core.inference.number_reading import ReadDrawing, column_weights, labels_of
from attention_core.models.digit_reader import CLASSES, END, DigitReading
from pages.read.changes import AFTER, EDITS, ChangedReading, read_again, read_changed
from pages.read.pad import MODEL, NAME, PAD_SIZE, number_pad
from ui.chart import draw_layers
from ui.layout import grey_out, section
from ui.try_this import TryThis, try_this

COLUMNS = [1.9, 1]
"""The pad, and whatever stands under it, beside the answers."""


def draw_read_number() -> ChangedReading:
    """Draw the pad, under it where each look goes; return how the number is read."""
    drawing, is_present, pad_area = number_pad()
    changed = read_changed(drawing)
    with pad_area:
        _draw_looks(changed)
    for key in ("read_looks", "read_answer"):
        grey_out(key, not is_present)
    return changed


def _draw_looks(changed: ChangedReading) -> None:
    """Draw the weights of all looks, column by column, under the drawing, where read.css puts them."""
    weights, n_left_out = to_array(column_weights(changed.reading.trace)), changed.n_left_out
    weights = np.vstack([np.zeros((n_left_out, weights.shape[1])), weights])
    labels = [f"look {number}: {label}" for number, label in enumerate(labels_of(changed.reading), 1)]
    labels = ["no look"] * n_left_out + labels
    layer = glow_ramp(weights.shape[1], float(weights.max()))
    with st.container(key="read_looks", horizontal=True, gap="xsmall"):
        layers, alt = [map_png(weights, layer, False)], "All looks: where each goes"
        values, width = 100 * weights, PAD_SIZE[1]
        draw_layers(layers, values, "read_columns", alt, size=width, row_height=27, row_labels=labels, tooltip="{}%")
        st.html(f'<div class="looks">{"".join(f"<b>{label}</b>" for label in labels)}</div>')


def draw_answer(changed: ChangedReading) -> None:
    """Draw the reading, and that of a reader that cannot choose."""
    reading, uniform = changed.reading, read_again(MODEL, changed.drawing.picture, edits=(Uniform(),))
    with st.container(key="read_answer"):
        section("Looking digit by digit" + (", changed" if changed.is_changed else ""), Role.WEIGHTS)
        st.html(answer_cards(reading, changed.withheld, changed.n_left_out))
        ending = "stopped by itself" if reading.is_finished else "was stopped"
        st.markdown(f"It {ending} after {format_count(len(reading.probabilities), 'looks')}.")
        section("With every weight equal")
        st.html(f'<div class="baseline">{answer_cards(uniform)}</div>')
    try_this(NAME, _later(changed.drawing))


def answer_cards(reading: DigitReading, blind: Collection[int] = (), left_out: int = 0) -> str:
    """Return HTML with a card per look: the digit, its probability, whether it was blind; cards left out come first."""
    items = ['<div class="blind"></div>'] * left_out
    for look, row in enumerate(reading.probabilities.tolist()):
        best = int(np.argmax(row))
        css_class = " ".join(name for name, holds in (("end", best == END), ("blind", look in blind)) if holds)
        items.append(
            f'<div class="{css_class}"><b>{CLASSES[best]}</b><small>{percent(row[best])}</small>'
            f'<i style="width:{row[best]:.1%}"></i></div>'
        )
    label = f"Reads {reading.digits or 'nothing'}"
    return f'<div class="reading" role="img" aria-label="{label}">{"".join(items)}</div>'


def _later(drawing: ReadDrawing) -> TryThis:
    digits, remainder = drawing.reading.digits, drawing.reading.digits[1:] or "the end"

    def act() -> None:
        AFTER.value = 1
        EDITS.reset()

    def outcome() -> tuple[int, str]:
        reread = read_again(MODEL, drawing.picture, start=drawing.reading.states[1]).digits or "the end"
        text = f"Then it reads *{reread}*: the picture is the same; its question alone knows how far it has come."
        return (1, text) if reread == remainder else (0 if reread == digits else 2, f"Then it reads *{reread}*.")

    return TryThis(
        f"Pretend the {digits[0]} is already read" if digits else "Pretend the first digit is already read",
        "Pretend it has already read the first digit. What will it read?",
        (f"{digits or 'Nothing'} again", f"Only {remainder}", "Something else"),
        act,
        outcome,
        "read_answer",
        subject=AFTER.value,
    )
