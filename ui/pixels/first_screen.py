"""The first screen: the drawing on its pad, whose pixels show where they look, and what the network reads."""

import base64
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.edits import UNIFORM
from attention_core.attention.trace import AttentionTrace
from attention_core.charts import overlay, picture, signed_ramp
from attention_core.charts.overlay import GLOW, strongest_weight
from attention_core.charts.vega import BLUE_ORANGE, CHOSEN, GREY, Chart
from attention_core.data.drawing import CanvasRemark, Drawing
from attention_core.device import to_array
from attention_core.explain.faithfulness import ink_mask
from attention_core.topics.pixels import Answer
from attention_core.topics.pixels.packed import pack_looks
from attention_core.topics.pixels.split import product_means
from ui.canvas import PAPER, Pad, PadState, digit_presets
from ui.chart import note_picture
from ui.component import component, script_of
from ui.computed import cached_computation, card_or_empty
from ui.digits import chosen_query, digit_bars, inked, query_field, read_image
from ui.player import Stepper
from ui.state import Field, component_message, named, one_of, single_choice
from ui.try_this import TryThis

NAME = "pixels"
PAD = Pad(NAME, digit_presets(), first="7")
STEPS = Stepper(NAME)
REMARKS = {
    CanvasRemark.EMPTY: "Draw a digit on the pad, anywhere and in any size, or take one of the ten below it.",
    CanvasRemark.DOT: "That is a dot. Keep drawing: a digit needs a stroke or two.",
    CanvasRemark.SEVERAL: (
        "This looks like several digits side by side. The models read one, and take all ink as part of it."
    ),
}
GUIDED, PLAIN, INK_ONLY, NO_SOFTMAX = "pixel-classifier", "pixel-notes", "pixel-notes-ink", "pixel-notes-product"
SELF, ALONE, ALIKE = "pixel-notes-self", "pixel-notes-alone", "pixel-notes-uniform"
"""Controls: every pixel takes from itself alone; no attention; every weight equal from the start."""
PENS = "held_out_stroke_accuracy"
LAYERS = {
    PLAIN: "ink and position",
    INK_ONLY: "ink only",
    NO_SOFTMAX: "without softmax",
    GUIDED: "with a head start",
}
LAYER = Field(NAME, "layer", PLAIN, address="layer", parse=one_of(LAYERS))
LAST = Field[Drawing | None](NAME, "last", None)
EQUAL = Field(NAME, "equal", False, address="equal")
ONE, COLUMNS, ROWS = "one pixel", "all: who is looked at", "all: who looks"
MAP = Field(NAME, "map", ONE, address="map", **named(one=ONE, columns=COLUMNS, rows=ROWS))
HANDED_OVER = {
    PLAIN: "A pixel hands over its ink and its position. Nothing was given before training: all was random.",
    INK_ONLY: "A pixel is its ink and nothing else: nobody knows where it stands. Before training all was random.",
    NO_SOFTMAX: "The scores themselves weigh the values, Q Kᵀ divided by 784. A weight may be negative, blue: what a "
    "pixel hands over is taken away. Before training all was random.",
    GUIDED: "A pixel hands over its position and no ink, so the drawing reaches the answer only through the weights. "
    "Much was given: before training the scores already preferred near pixels and ink.",
}
AVERAGES = {
    COLUMNS: "Column attention: the mean of each column of Q Kᵀ. Orange: pixels score this one above 0 on average.",
    ROWS: "Row attention: the mean of each row of Q Kᵀ. Orange: this pixel scores the others above 0 on average.",
}
LIGHT_INK = 0.45  # of its darkness, under a map of weights
_map = component("pixel_map", script_of("pixel_pad", "pixel_map"))
packed_looks = cached_computation()(pack_looks)


class Reading(NamedTuple):
    """What the chosen layer reads in the drawing."""

    drawing: Drawing
    image: Tensor  # (28, 28)
    learned: Answer  # with its own weights
    equal: Answer  # with every weight equal

    @property
    def shown(self) -> Answer:
        return self.equal if EQUAL.value else self.learned

    @property
    def trace(self) -> AttentionTrace:
        return self.shown.traces[0]


def last_drawing(now: Drawing) -> tuple[Drawing | None, bool]:
    """Return what is drawn now or, on an empty pad, what was there before, and whether it is that."""
    if now.remark is not CanvasRemark.EMPTY:
        LAST.value = now
        return now, False
    return LAST.value, True


def read(drawing: Drawing) -> Reading:
    """Let the chosen layer read a drawing, with its own weights and with every weight equal."""
    image = torch.from_numpy(drawing.image)
    return Reading(drawing, image, read_image(LAYER.value, image), read_image(LAYER.value, image, UNIFORM))


def verdict(reading: Reading) -> None:
    """Say in one line what is read, beside the switch that makes every weight equal."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        answer = reading.shown
        st.html(f'<p class="reads">Reads <b>{answer.digit}</b> ({answer.confidence:.0%})</p>', width="content")
        EQUAL.widget(st.toggle, "Every weight equal")


def pixel_map(reading: Reading, pad: PadState) -> None:
    """Lay the drawing's pixels over the pad: the one under the pointer asks all others, a click keeps it."""
    drawing, field = reading.drawing, query_field(NAME)
    looks = packed_looks(reading.learned.traces[0])
    shown = MAP.value
    query = chosen_query(drawing.image, NAME)
    means = _averages(reading.learned.traces[0], shown)
    ramps = {"given": GLOW if means is None else BLUE_ORANGE[5:], "taken": BLUE_ORANGE[5::-1]}
    if pad.paper == "dark":
        ramps = {name: colours[::-1] for name, colours in ramps.items()}
    data = {
        "numbers": _text(looks.numbers),
        "unit": 0.0 if EQUAL.value else looks.unit,
        "softmax": looks.softmax,
        "faint": strongest_weight(drawing.image.size, 0.0) if looks.softmax else 0.0,
        "ink": _text(np.rint(255 * drawing.image).astype(np.uint8).tobytes()),
        "place": drawing.place_on_canvas(),
        "query": query,
        "stays": field.value is not None,
        "map": None if means is None else [round(mean, 3) for mean in means.tolist()],
        "says": AVERAGES.get(shown, ""),
        "ramps": {**ramps, "ink": (PAPER[pad.paper], GREY)},
        "asks": CHOSEN,
    }

    def take() -> None:
        asked = (component_message("pixels_looks", "asked") or {}).get("query")
        if isinstance(asked, int) and 0 <= asked < drawing.image.size:
            field.value = asked

    row = to_array(reading.trace.weights(0, [query])[0])
    still = partial(map_chart, reading.trace, row, drawing.image, size=320, marked=query)
    note_picture(still, "Where one pixel of the drawing looks")
    _map(key="pixels_looks", data=data, default={"asked": None}, on_asked_change=take)


def _text(numbers: bytes) -> str:
    return base64.b64encode(numbers).decode()


def _averages(trace: AttentionTrace, shown: str) -> np.ndarray | None:
    """Return the mean of each column or row of Q K^T in shares of the largest, (784,); None for one pixel's map."""
    if shown == ONE:
        return None
    means = product_means(trace)
    average = to_array(means.column if shown == COLUMNS else means.row)
    return average / max(float(np.abs(average).max()), 1e-9)


def answers(reading: Reading) -> None:
    """Draw the ten probabilities, and say where attention wins and where it hardly does."""
    label = "every weight equal" if EQUAL.value else "weights as learned"
    digit_bars(
        {label: reading.shown.probabilities}, 190, label, on=st.container(key="pixels_answer", height=215, border=False)
    )
    st.caption(equal_words(LAYER.value) if EQUAL.value else worth_words(LAYER.value))


def equal_words(layer: str) -> str:
    """Say what is lost when every weight is equal, and that learning does not bring it back."""
    if layer == NO_SOFTMAX:
        return "Every weight is 0 now, so nothing of the drawing is collected."
    words = "Every pixel now takes the same mixture of all 784, and the drawing's shape is gone."
    if layer == GUIDED:
        return words
    return f"{words} Trained with equal weights from the start, it reads {_share(ALIKE)} of MNIST's test digits."


def worth_words(layer: str) -> str:
    """Say what attention is worth in a layer, beside the same network in which a pixel takes from itself alone."""
    if layer == GUIDED:
        without = card_or_empty(GUIDED).get("feed_forward_network", {}).get("test_accuracy", 0)
        return (
            "**Here nothing of the drawing arrives but through the weights; yet attention hardly helps**: "
            f" {_share(GUIDED)} of MNIST's test digits are read, {without:.1%} by a network without attention."
        )
    return (
        "**Here attention shows where it takes from; it hardly helps.** Where every pixel takes from itself alone, the "
        f"same network reads {_share(SELF)} of MNIST's test digits and {_share(SELF, PENS)} of a pen's; this one "
        f"{_share(layer)} and {_share(layer, PENS)}. The network on top sees every pixel in its place anyway."
    )


def _share(name: str, part: str = "test_accuracy") -> str:
    share = card_or_empty(name).get(part)
    return "?" if share is None else f"{share:.1%}"


def layer_section() -> None:
    """Let a visitor choose what a pixel knows and how its map is drawn."""
    single_choice("The map shows", MAP, (ONE, COLUMNS, ROWS), wrap=True)
    single_choice("Attention layer", LAYER, LAYERS, wrap=True)
    st.caption(HANDED_OVER[LAYER.value])


def equal_weights(reading: Reading) -> TryThis:
    """Return the surprise: with every weight equal the same network no longer reads the digit."""
    digit = reading.learned.digit

    def act() -> None:
        EQUAL.value = True

    def outcome() -> tuple[int, str]:
        before, after = reading.learned, reading.equal
        words = f"With its own weights it reads {digit} ({before.confidence:.0%}), with equal ones {after.digit}"
        return int(after.digit != digit), f"{words} ({after.confidence:.0%})."

    question = "If every pixel takes from all alike: what will the network read?"
    options = (f"Still {digit}", "Something else")
    return TryThis("Make every weight equal", question, options, act, outcome, "pixels_stage")


def received(trace: AttentionTrace, image: Tensor) -> Tensor:
    """Return how much each pixel is looked at by the ink queries on average, (28, 28)."""
    return trace.summary(0, ink_mask(image).flatten()).received.reshape(image.shape).cpu()


def map_chart(
    trace: AttentionTrace,
    values: np.ndarray,
    image: np.ndarray,
    *,
    size: int,
    marked: int | None = None,
    bar: bool = True,
) -> Chart:
    """Draw weights or their averages, (784,) or (28, 28), over the ink; without softmax they have signs."""
    values = values.reshape(image.shape)
    if trace.has_softmax:
        paper = inked(LIGHT_INK * image).repeat(6, 0).repeat(6, 1)
        return overlay(paper, values, size=size, smooth=False, opacity=1, marked=marked, bar=bar)
    return picture(values, signed_ramp(values), title="weight", size=size, marked=marked, outline=image, bar=bar)
