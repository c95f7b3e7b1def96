"""What pages about digits share: a model's reading of a picture, beside that with every weight equal."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
import streamlit as st

from attention_core.attention.wording import percent
from attention_core.data.drawing import CanvasRemark, prepare
from attention_core.inference import digits as pixels
from ui.canvas import Pad, render_strokes
from ui.computed import by_model, cached_computation
from ui.layout import ink_ramp
from ui.try_this import TryThis

N_ANSWERS = 3
NEAR = 2.0  # points of per cent
SINGLE_COLOUR = "The whole pad has one colour. Undo takes the last stroke away."
WORTH = "digits_worth"
"""The key of the text that compares with networks without attention: it gives the answer of the guess away."""
read_image = by_model(pixels.ask)
"""What a model reads in one picture, float (28, 28)."""
prepared = cached_computation()(prepare)
"""A canvas, uint8 (height, width, 4), as the models see it."""


def inked(image: np.ndarray) -> np.ndarray:
    """Return a picture of ink, from 0 to 1, in its colours, uint8 (rows, columns, 3)."""
    return ink_ramp().lookup()[np.rint(image * 255).astype(int), :3]


def draw_reading(title: str, probabilities: np.ndarray) -> None:
    """Draw the digit that is read with some weights, and its probability."""
    digit, share = probabilities.argmax(), probabilities.max()
    st.html(f'<p class="reads"><span>{title} reads</span> <b>{digit}</b> ({percent(share)})</p>')


def likeliest_digits(probabilities: np.ndarray) -> list[tuple[str, float, str]]:
    """Return the likeliest digits, each with its probability, as a scene shows them."""
    best = np.argsort(-probabilities, kind="stable")[:N_ANSWERS]
    return [(str(digit), round(float(probabilities[digit]), 4), "") for digit in best]


def compare_accuracies(accuracy: str, baseline: str, are_errors: bool = False) -> str:
    """Say how good an accuracy is beside a baseline's, both as printed: "98.1%", or a range."""
    means = [float(np.mean([float(n) for n in re.findall(r"[\d.]+", text)])) for text in (accuracy, baseline)]
    ahead = round(means[1] - means[0] if are_errors else means[0] - means[1], 3)
    if ahead >= 0:
        return "better" if ahead else "as good"
    return "almost as good" if ahead >= -NEAR else "worse"


def remark_on(remarks: Mapping[Any, str], remark: Any, has_strokes: bool) -> str:
    """Return the remark on a drawing; where no ink is seen on a pad with strokes, it is painted all over."""
    return SINGLE_COLOUR if remark is CanvasRemark.EMPTY and has_strokes else remarks.get(remark, "")


def all_ten_digits(
    read: Callable[[np.ndarray], Iterable[np.ndarray]], pad: Pad, scroll_to: str, equal: str = "equal"
) -> TryThis:
    """Return the guess how many preset digits are read with equal weights, answered beside the learned weights.

    `read` returns the probabilities of the ten digits on a canvas with learned and with equal weights; `equal` is the
    word for equal weights.
    """

    @cache
    def digits_read() -> np.ndarray:
        drawings = [render_strokes(strokes(), pad.size, "light") for strokes in pad.presets.values()]
        return np.transpose([[probabilities.argmax() for probabilities in read(drawing)] for drawing in drawings])

    def outcome() -> tuple[int, str]:
        n_learned, n_equal = (digits_read() == np.arange(10)).sum(1)
        option = 0 if n_equal > 7 else 1 if n_equal > 3 else 2
        return option, f"{n_learned} of 10 as learned, {n_equal} with every weight {equal}."

    def draw_table() -> None:
        rows = zip(("Drawn", "As learned", f"All {equal}"), (np.arange(10), *digits_read()), strict=True)
        st.html(f'<table class="ten">{"".join(_table_row(name, digits) for name, digits in rows)}</table>')

    question = f"With every weight {equal}, how many of ten drawn digits will it read?"
    options = ("Nearly all", "About half", "Three at most")
    surprise = "Read all ten digits both ways", question, options, None, outcome, scroll_to, draw_table
    return TryThis(*surprise, hides=f".st-key-{WORTH}")


def _table_row(name: str, digits: np.ndarray) -> str:
    def css_class(digit: int, expected: int) -> str:
        return "drawn" if name == "Drawn" else "right" if digit == expected else "wrong"

    tiles = (f'<td class="{css_class(digit, expected)}">{digit}</td>' for expected, digit in enumerate(digits))
    return f"<tr><th>{name}</th>{''.join(tiles)}</tr>"
