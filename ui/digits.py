"""What pages about digits share: a model's reading of a picture, beside that with every weight equal."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from attention_core.attention.wording import percent
from attention_core.data.drawing import CanvasRemark, prepare
from attention_core.inference import digits as pixels
from ui.computed import by_model, cached_computation
from ui.layout import ink_ramp

N_ANSWERS = 3
NEAR = 2.0  # points of per cent
SINGLE_COLOUR = "The whole pad has one colour. Undo takes the last stroke away."
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
