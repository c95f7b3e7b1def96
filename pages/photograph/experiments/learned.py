"""What if the mask is learned? One query, trained with the whole network, finds a drawn digit in clutter."""

from functools import cache, partial
from typing import NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core import UNIFORM, AttentionTrace
from attention_core.attention.types import Step
from attention_core.attention.wording import fine_percent
from attention_core.data.canvases import CanvasRemark, InkPicture, PartsRemark, ink_picture, parts_remark
from attention_core.data.drawing import Stroke
from attention_core.data.presets import CLUTTER_WIDTH, clutter_between, hidden_digit
from attention_core.data.scenes import FIND_SIDE
from attention_core.inference import feature_channels as channels
from attention_core.models.feature_mask import FeatureMask
from pages.photograph.numbers import STEPS
from pages.photograph.reading import NAME
from ui.canvas import Pad, columns_beside_pad, draw_pad, readable_content, remove_strokes, set_strokes
from ui.chart import draw_map
from ui.computed import by_model, cached_computation, card_or_empty
from ui.digits import compare_accuracies, draw_reading, remark_on
from ui.player import StepStyle, export_bar, show_all_numbers
from ui.skeleton import draw_fragment
from ui.state import Field, whole_number
from ui.take_along import take_along

MODEL, PLAIN = "feature-mask", "feature-mean"
trace_picture = by_model(FeatureMask.trace)
try_edits = by_model(channels.try_edits)
REGION = Field(NAME, "mask_region", None, address="mask_region", parse=whole_number)
SIDE = 256
MAX_CHANNELS = 18
MAX_CLUTTER, PIECES_AT_ONCE = 32, 8
DIGIT_BOXES = (
    (0.74, 0.27, 0.3), (0.2, 0.66, 0.36), (0.72, 0.7, 0.28), (0.27, 0.3, 0.27), (0.7, 0.62, 0.34),
    (0.33, 0.62, 0.38), (0.66, 0.3, 0.38), (0.24, 0.24, 0.31), (0.47, 0.76, 0.29), (0.6, 0.42, 0.42),
)  # fmt: skip
"""Of the ten presets: the digit's middle, x and y, and its height, as shares of the canvas."""
REMARKS = {
    CanvasRemark.EMPTY: "Draw a digit on the empty picture, or take one of the ten.",
    CanvasRemark.DOT: "That is a dot. Keep drawing.",
    PartsRemark.SMALL: "Nothing here is as tall as a digit that the network knows, a quarter of the canvas.",
    PartsRemark.LARGE: "Something reaches across the canvas; the network knows digits up to three quarters of it.",
    PartsRemark.SEVERAL: "These look like several digits. The network was taught to name one.",
}


@cache
def _hidden(digit: int) -> list[Stroke]:
    x, y, height = (share * SIDE for share in DIGIT_BOXES[digit])
    return hidden_digit(digit, (x, y), height, SIDE, np.random.default_rng(digit))


PRESETS = {str(digit): partial(_hidden, digit) for digit in range(10)}
PAD = Pad(NAME, PRESETS, first="4", size=(SIDE, SIDE), pen_width=12)


class MaskReading(NamedTuple):
    """What the network reads on the pad, with its learned weights and with every weight equal."""

    canvas: np.ndarray  # the drawing, uint8 (256, 256, 4)
    trace: AttentionTrace
    masks: np.ndarray  # (2, rows, columns): learned, equal
    probabilities: np.ndarray  # (2, 10)
    beside: DeltaGenerator  # the container beside the pad


def draw_input() -> MaskReading:
    """Draw the pad, with buttons that scatter clutter over it and erase it."""
    pad_column, beside = columns_beside_pad()
    with pad_column:
        pad = draw_pad(PAD)
        n = sum(abs(stroke.width - CLUTTER_WIDTH) < 1e-6 for stroke in pad.strokes)
        with st.container(horizontal=True, gap="xsmall", key="photograph_clutter_examples"):
            st.button("Scatter clutter", key="photograph_scatter", on_click=_scatter, disabled=n >= MAX_CLUTTER)
            erase = partial(remove_strokes, PAD, CLUTTER_WIDTH)
            st.button("Erase clutter", key="photograph_erase", on_click=erase, disabled=n == 0)
        ink, remark = _ink_and_remark(pad.canvas)
        if text := remark_on(REMARKS, remark, bool(pad.strokes)):
            st.info(text)
    canvas = readable_content(PAD, pad, ink.remark is CanvasRemark.EMPTY).canvas
    picture = _ink_and_remark(canvas)[0].picture
    trace = trace_picture(MODEL, picture)
    take_along(lambda: export_bar(trace, NAME, query=0, picture=canvas))
    return MaskReading(canvas, trace, *try_edits(MODEL, picture, ((), UNIFORM)), beside)


def _scatter() -> None:
    pieces = clutter_between(PAD.strokes.value, PIECES_AT_ONCE, SIDE, np.random.default_rng())
    set_strokes(PAD, pieces, add=True)


@cached_computation()
def _ink_and_remark(canvas: np.ndarray) -> tuple[InkPicture, CanvasRemark | PartsRemark | None]:
    ink = ink_picture(canvas, (FIND_SIDE, FIND_SIDE))
    return ink, ink.remark or parts_remark(ink.picture)


def answer(reading: MaskReading) -> str:
    """Say what is read with the learned weights, and with equal ones."""
    learned, equal = reading.probabilities.argmax(1)
    still = "still " * bool(equal == learned)
    return f"Then no word asks: **one learned query** reads **{learned}**, with every weight equal {still}**{equal}**."


def draw(reading: MaskReading) -> None:
    """Draw the mask over the drawing, beside equal weights, and all the numbers."""
    with reading.beside:
        titles, high = ("The learned mask", "An equal mask"), float(reading.masks[0].max())
        for index, column in enumerate(st.columns(2, gap="medium")):
            with column:
                name = f"photograph_mask_{index}"
                draw_map(reading.masks[index], reading.canvas, name, titles[index], size=370, high=high)
                draw_reading(titles[index], reading.probabilities[index])
        st.caption(_worth_text())
    with st.container(key="desk_photograph_mask_numbers"):
        draw_fragment(_draw_numbers, reading, players=(STEPS,))


def _worth_text() -> str:
    """Compare the errors with those of a network trained with every weight equal."""
    error, cards = "cluttered_translated_mnist_error", (card_or_empty(MODEL), card_or_empty(PLAIN))
    if not all(error in card for card in cards):
        return ""
    having, without = (fine_percent(card[error]) for card in cards)
    compared = compare_accuracies(without, having, are_errors=True)
    return f"It misreads {having} of digits in clutter; trained without attention it is {compared}: {without}."


def _draw_numbers(reading: MaskReading) -> None:
    """Draw the steps: features by convolution, a 1 x 1 convolution, the mask, what it takes."""
    trace, regions, chosen = reading.trace, reading.trace.story.key_axis, REGION.value
    region = chosen if chosen is not None and chosen < trace.n_keys else int(trace.weights(0, [0])[0].argmax())
    styles = {
        "key": StepStyle(region, column_indices=channels.order_of(trace)[:MAX_CHANNELS]),
        "scores": StepStyle(column=region),
        "weights": StepStyle(column=region, over=reading.canvas),
    }

    def on_cell(step: Step, row: int, column: int) -> None:
        if regions in (step.row_axis, step.col_axis):
            REGION.set(row if regions is step.row_axis else column)

    def name_channels(step: Step) -> None:
        if step.name == "key":
            st.caption("The channels that move the mask most.")

    show_all_numbers(
        trace,
        STEPS,
        NAME,
        style_of=lambda step: styles.get(step.name, StepStyle()),
        on_cell=on_cell,
        below_picture=name_channels,
        key=region,
        formulas={"scores": channels.score_formula(trace, region)},
    )
