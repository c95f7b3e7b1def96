"""The first screen: a digit off the middle, clutter to scatter and to erase, the mask over it, the answers."""

from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st
from PIL import ImageColor

from attention_core.attention.edits import UNIFORM
from attention_core.attention.trace import AttentionTrace
from attention_core.charts import overlay
from attention_core.charts.vega import INK_COLOURS
from attention_core.data.canvases import CanvasRemark, InkPicture, PartsRemark, ink_picture, parts_remark
from attention_core.data.drawing import Stroke, ink_of
from attention_core.data.presets import CLUTTER_WIDTH, clutter_strokes, hidden_digit
from attention_core.data.scenes import FIND_SIDE
from attention_core.device import to_array
from attention_core.models.feature_mask import FeatureMask
from attention_core.topics import find
from attention_core.topics.find import largest_weights, n_for_share
from ui.canvas import Pad, PadState, drawing_pad, put_strokes, remove_strokes
from ui.chart import click, draw_chart
from ui.computed import cached_computation
from ui.digits import by_model, digit_bars
from ui.state import Field, whole_number
from ui.try_this import TryThis

NAME, MODEL, PLAIN = "find", "feature-mask", "feature-mean"
trace_picture = by_model(FeatureMask.trace)
"""What a network, with attention or without, does with a picture (60, 60)."""
try_edits = by_model(find.try_edits)
REGION = Field(NAME, "region", None, address="region", parse=whole_number)
EQUAL = Field(NAME, "equal", False, address="equal")
SIDE = 256
MAX_CLUTTER, PIECES_AT_ONCE = 96, 8
PLACES = (
    (0.74, 0.27, 0.3), (0.2, 0.66, 0.36), (0.72, 0.7, 0.28), (0.27, 0.3, 0.27), (0.7, 0.62, 0.48),
    (0.33, 0.62, 0.56), (0.66, 0.3, 0.38), (0.24, 0.24, 0.31), (0.47, 0.76, 0.29), (0.6, 0.42, 0.62),
)  # fmt: skip
"""Of the ten ready drawings: the digit's middle, x and y, and its height, as shares of the canvas."""
REMARKS = {
    CanvasRemark.EMPTY: "Draw a digit anywhere on the pad, or take one of the ten below it. Then scatter clutter.",
    CanvasRemark.DOT: "That is a dot. Keep drawing: a digit needs a stroke or two.",
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


def _hidden(digit: int) -> list[Stroke]:
    x, y, height = (share * SIDE for share in PLACES[digit])
    return hidden_digit(digit, (x, y), height, SIDE, np.random.default_rng(digit))


PRESETS = {str(digit): partial(_hidden, digit) for digit in range(10)}
PAD = Pad(NAME, PRESETS, first="3", size=(SIDE, SIDE), help="Hide a {} for me", pen_width=12)


def digit_pad() -> PadState:
    """Draw the pad, and the buttons that strew clutter over it, take it away, and hide a digit anew."""
    pad = drawing_pad(PAD)
    objects = PAD.drawing.value.get("objects", [])
    there = sum(abs(stroke.get("strokeWidth", 0) - CLUTTER_WIDTH) < 1e-6 for stroke in objects)
    with st.container(horizontal=True, gap="xsmall", key="find_clutter_examples"):
        told = f"{PIECES_AT_ONCE} more bits of digits, anywhere, also across the digit"
        st.button("Scatter clutter", key="find_scatter", on_click=_scatter, disabled=there >= MAX_CLUTTER, help=told)
        st.button(
            "Erase clutter", key="find_erase", on_click=remove_strokes, args=(PAD, CLUTTER_WIDTH), disabled=there == 0
        )
        st.button("Hide a random digit", key="find_hide", on_click=_hide, help="Any digit, anywhere, in any size")
    return pad


def _scatter() -> None:
    put_strokes(PAD, clutter_strokes(PIECES_AT_ONCE, SIDE, np.random.default_rng()), add=True)


def _hide() -> None:
    rng = np.random.default_rng()
    height = SIDE * rng.uniform(0.26, 0.55)
    x, y = rng.uniform(0.55 * height, SIDE - 0.55 * height, 2).tolist()
    put_strokes(PAD, hidden_digit(int(rng.integers(10)), (x, y), height, SIDE, rng))


@cached_computation()
def prepare_pad(pad: PadState) -> tuple[InkPicture, np.ndarray, str]:
    """Return what the networks see of the drawing, it in grey, and what a person should be told about it, or ""."""
    seen = ink_picture(pad.canvas, (FIND_SIDE, FIND_SIDE))
    remark = seen.remark or parts_remark(seen.picture)
    told = REMARKS.get(remark, "")
    return seen, _in_grey(pad), ONE_COLOUR if seen.remark is CanvasRemark.EMPTY and pad.strokes else told


def _in_grey(pad: PadState) -> np.ndarray:
    lightest, darkest = (np.array(ImageColor.getrgb(colour)) for colour in (INK_COLOURS[0], INK_COLOURS[-2]))
    ink = ink_of(pad.canvas)[..., None]
    return np.rint(ink * darkest + (1 - ink) * lightest).astype(np.uint8)


def mask_of(trace: AttentionTrace) -> np.ndarray:
    """Return the weights as a picture, float (rows, columns)."""
    return to_array(trace.weights(0, [0])[0].reshape(trace.story.key_axis.grid))  # type: ignore[arg-type]


class FindReading(NamedTuple):
    """What the network finds and reads, with its own weights or with every weight equal."""

    trace: AttentionTrace  # with its own weights
    masks: np.ndarray  # (2, rows, columns), its own and the equal one
    probabilities: np.ndarray  # (2, 10)

    @property
    def mask(self) -> np.ndarray:
        return self.masks[int(EQUAL.value)]

    @property
    def answer(self) -> np.ndarray:
        return self.probabilities[int(EQUAL.value)]


def read(picture: np.ndarray) -> FindReading:
    """Let the network look for the digit in a picture (60, 60)."""
    return FindReading(trace_picture(MODEL, picture), *try_edits(MODEL, picture, ((), UNIFORM)))


def verdict(reading: FindReading) -> None:
    """Say in one line what is read, beside the switch that makes every weight equal."""
    answer = reading.answer
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="find_verdict"):
        words = f'<p class="verdict">Reads <b>{int(answer.argmax())}</b> ({answer.max():.0%})</p>'
        st.html(words, width="content")
        EQUAL.widget(st.toggle, "Every weight equal")


def answers(reading: FindReading) -> None:
    """Draw the ten probabilities, and say what the mask is worth."""
    label = "every weight equal" if EQUAL.value else "with its attention"
    place = st.container(key="find_answer", height=200, border=False)
    digit_bars({label: reading.answer}, 170, label, key="find_bars", on=place)
    st.caption(
        f"Every region now counts the same, clutter and paper too: the surest answer gets {reading.answer.max():.0%}."
        if EQUAL.value
        else "One learned question asks 225 regions. These weights add up what they hold; only that sum is read."
    )


def equal_weights(reading: FindReading) -> TryThis:
    """Return the surprise: looking everywhere alike, the same network no longer finds the digit."""
    own, equal = reading.probabilities
    digit, after = int(own.argmax()), int(equal.argmax())

    def act() -> None:
        EQUAL.value = True

    def outcome() -> tuple[int, str]:
        words = f"With its own weights it reads {digit} ({own.max():.0%}), with equal ones {after} ({equal.max():.0%})"
        return int(after != digit), f"{words}; the {digit} gets {equal[digit]:.0%}."

    question = "If it looks everywhere alike: what will the same network read?"
    options = (f"Still {digit}", "Something else")
    return TryThis("Make every weight equal", question, options, act, outcome, "find_verdict")


def chosen_region(trace: AttentionTrace) -> int:
    """Return the region that was clicked, or that the address names, or the peak of the mask."""
    region = REGION.value
    return region if region is not None and region < trace.n_keys else largest_weights(trace, 1)[0]


def mask_over(
    drawing: np.ndarray, mask: np.ndarray, *, key: str, size: int, framed: int | None, bar: bool = True
) -> None:
    chart = overlay(drawing, mask, size=size, opacity=0.85, select="region", marked=framed, bar=bar)
    words = "The mask over the drawing: the pinker a region, the more is taken from it; click one to choose it"
    draw_chart(chart, **click(key, "region", "position", REGION), width="content", alt=words)


def mask_section(drawing: np.ndarray, reading: FindReading, region: int) -> None:
    """Draw the mask over the drawing, large, and how narrow it is in words."""
    clicked = region if region != largest_weights(reading.trace, 1)[0] else None
    mask_over(drawing, reading.mask, key="find_hero", size=316, framed=clicked)
    st.caption(f"{narrowness(reading)} Click a region: its score is below.")


def narrowness(reading: FindReading) -> str:
    """Say on how few regions the attention lies."""
    n = reading.mask.size
    if EQUAL.value:
        return f"Each of {n} regions gets {1 / n:.1%} of the attention."
    half = n_for_share(reading.trace, 0.5)
    if half == 1:
        return f"One of {n} regions gets {reading.mask.max():.0%} of the attention."
    return f"{half} of {n} regions get half of the attention."
