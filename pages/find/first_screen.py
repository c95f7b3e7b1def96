"""The first screen: a digit off the middle, clutter to scatter and to erase, the mask over it, the answers."""

from functools import cache, partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from attention_core import UNIFORM, AttentionTrace
from attention_core.attention.view.scene import picture_scene_data
from attention_core.attention.wording import fine_percent
from attention_core.charts.overlay import image_png, overlay
from attention_core.data.canvases import CanvasRemark, InkPicture, PartsRemark, ink_picture, parts_remark
from attention_core.data.drawing import Stroke
from attention_core.data.presets import CLUTTER_WIDTH, clutter_between, hidden_digit
from attention_core.data.scenes import FIND_SIDE
from attention_core.device import to_array
from attention_core.inference import feature_channels as find
from attention_core.models.feature_mask import FeatureMask
from ui.canvas import PAPER, Pad, PadContent, draw_pad, readable_content, remove_strokes, set_strokes
from ui.chart import note_picture, picture_address
from ui.computed import by_model, cached_computation, card_or_empty
from ui.digits import compare_accuracies, likeliest_digits, remark_on
from ui.edits import EditList
from ui.scene import draw_picture_scene
from ui.state import Field, whole_number
from ui.try_this import is_guessing

NAME, MODEL, PLAIN = "find", "feature-mask", "feature-mean"
trace_picture = by_model(FeatureMask.trace)
try_edits = by_model(find.try_edits)
REGION = Field(NAME, "region", None, address="region", parse=whole_number)
IS_EVEN = Field(NAME, "even", False, address="even")
"""Whether the scene shows what comes of equal weights."""
SIDE = 256
PIECE_SIDE = 6
"""Side of the piece that stands for a region's features, in regions; the network sees more of it, with less weight."""
QUERY_SENTENCE = "One **query**, learned once for all drawings, asks **every region**."
NOTE = f"A piece stands for a region's numbers: it sees about {PIECE_SIDE} by {PIECE_SIDE} regions, not its own alone."
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
EDITS = EditList(NAME)
PAD = Pad(NAME, PRESETS, first="4", size=(SIDE, SIDE), pen_width=12)


def draw_digit_pad() -> PadContent:
    """Draw the pad, and the buttons that scatter clutter over it and erase it."""
    pad = draw_pad(PAD)
    n = sum(abs(stroke.width - CLUTTER_WIDTH) < 1e-6 for stroke in pad.strokes)
    with st.container(horizontal=True, gap="xsmall", key="find_clutter_examples"):
        st.button("Scatter clutter", key="find_scatter", on_click=_scatter, disabled=n >= MAX_CLUTTER)
        erase = partial(remove_strokes, PAD, CLUTTER_WIDTH)
        st.button("Erase clutter", key="find_erase", on_click=erase, disabled=n == 0)
    return pad


def _scatter() -> None:
    pieces = clutter_between(PAD.strokes.value, PIECES_AT_ONCE, SIDE, np.random.default_rng())
    set_strokes(PAD, pieces, add=True)


@cached_computation()
def ink_and_remark(canvas: np.ndarray) -> tuple[InkPicture, CanvasRemark | PartsRemark | None]:
    """Return the ink of a canvas as the network sees it, and a remark if something is unusual about it."""
    ink = ink_picture(canvas, (FIND_SIDE, FIND_SIDE))
    return ink, ink.remark or parts_remark(ink.picture)


def mask_of(trace: AttentionTrace) -> np.ndarray:
    """Return the weights as a picture, float (rows, columns)."""
    return to_array(trace.weights(0, [0])[0].reshape(trace.story.key_axis.picture_grid))


class FindReading(NamedTuple):
    """What the network reads: with its learned weights, with every weight equal, and with the visitor's edits."""

    canvas: np.ndarray  # the drawing, uint8 (256, 256, 4)
    picture: np.ndarray  # what the network sees of it, float (60, 60)
    trace: AttentionTrace  # with the visitor's edits
    masks: np.ndarray  # (3, rows, columns): learned, equal, edited
    probabilities: np.ndarray  # (3, 10)

    @property
    def region(self) -> int:
        """The region that was clicked or is in the address, else the peak of the mask."""
        region, n_regions = REGION.value, self.trace.n_keys
        return region if region is not None and region < n_regions else int(self.trace.weights(0, [0])[0].argmax())


def read_pad(pad: PadContent) -> tuple[FindReading, bool, str]:
    """Return what is read on a pad, of an empty one the last drawing, whether that is so, and a remark or ""."""
    ink, remark = ink_and_remark(pad.canvas)
    is_stale = ink.remark is CanvasRemark.EMPTY
    reading = _read_canvas(readable_content(PAD, pad, is_stale).canvas)
    return reading, is_stale, remark_on(REMARKS, remark, bool(pad.strokes))


def _read_canvas(canvas: np.ndarray) -> FindReading:
    """Let the network look for the digit on a canvas."""
    picture = ink_and_remark(canvas)[0].picture
    learned = trace_picture(MODEL, picture)
    edits = EDITS.fitting(learned)
    trace = trace_picture(MODEL, picture, edits) if edits else learned
    return FindReading(canvas, picture, trace, *try_edits(MODEL, picture, ((), UNIFORM, edits)))


def learned_and_equal(canvas: np.ndarray) -> np.ndarray:
    """Return the probabilities of a canvas with learned weights and with equal ones, (2, 10)."""
    return try_edits(MODEL, ink_and_remark(canvas)[0].picture, ((), UNIFORM))[1]


def draw_find_scene(reading: FindReading, paper: str, *, is_empty: bool) -> None:
    """Draw how the learned query finds the digit; the pad `is_empty` where an earlier drawing is shown."""
    note_picture(partial(overlay, reading.canvas, reading.masks[2]), "The weights, over the drawing")
    learned, equal, edited = map(likeliest_digits, reading.probabilities)
    picture = picture_address(image_png(reading.canvas))
    data = picture_scene_data([reading.trace], picture, [[("learned query", 0)]], edited, equal)
    data["looks"][0]["asks"] = QUERY_SENTENCE
    data |= {"near": PIECE_SIDE, "mixes": True, "isEven": IS_EVEN.value, "note": NOTE, "plays": True}
    data |= {"pad": NAME, "paper": PAPER[paper], "isEmpty": is_empty, "covered": is_guessing(NAME)}
    if reading.trace.edits:
        data["learned"] = learned

    def on_even(is_even: bool) -> None:
        IS_EVEN.value = is_even
        if not is_even:
            EDITS.reset()

    draw_picture_scene(NAME, data, on_even=on_even)


def worth_text() -> str:
    """Compare the errors with those of a network trained with every weight equal."""
    error, cards = "cluttered_translated_mnist_error", (card_or_empty(MODEL), card_or_empty(PLAIN))
    if not all(error in card for card in cards):
        return ""
    having, without = (fine_percent(card[error]) for card in cards)
    compared = compare_accuracies(without, having, are_errors=True)
    return f"It misreads {having} of digits in clutter; trained without attention it is {compared}: {without}."
