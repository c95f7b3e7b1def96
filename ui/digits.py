"""What pages about digits share: what a model reads in a picture, and what it reads with every weight equal."""

from collections.abc import Mapping

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core.charts import probability_bars
from attention_core.data.drawing import prepare
from attention_core.topics import pixels
from ui.chart import draw_chart
from ui.computed import by_model, cached_computation
from ui.inside_streamlit import MAIN
from ui.layout import ink_ramp
from ui.state import Field
from ui.try_this import TryThis

FRAME = (200, 205, 211)
read_image = by_model(pixels.ask)
"""What a model reads in one picture, float (28, 28)."""
prepared = cached_computation()(prepare)
"""A canvas, uint8 (height, width, 4), as the models see it."""


def inked(image: np.ndarray) -> np.ndarray:
    """Return a picture of ink, from 0 to 1, in its colours, uint8 (rows, columns, 3)."""
    return ink_ramp().lookup()[np.rint(image * 255).astype(int)].astype(np.uint8)


def ink_image(image: np.ndarray, size: int, words: str) -> None:
    """Draw a 28 x 28 picture as a plain image with a thin frame: nothing in it answers the mouse, so it is cheap."""
    st.image(framed(inked(image), size // image.shape[0]), width=size, output_format="PNG", alt=words)


def framed(image: np.ndarray, factor: int) -> np.ndarray:
    """Return a picture (rows, columns, 3), so many times as large, in a thin frame."""
    large = image.repeat(factor, 0).repeat(factor, 1)
    for edge in (large[0], large[-1], large[:, 0], large[:, -1]):
        edge[:] = FRAME
    return large


def digit_bars(
    series: Mapping[str, np.ndarray],
    height: int,
    words: str,
    *,
    key: str | None = None,
    on: DeltaGenerator = MAIN,
) -> None:
    """Draw probabilities of the ten digits, (10,) by the name of who says so."""
    chart = probability_bars(series, [str(digit) for digit in range(10)], height=height)
    draw_chart(chart, key=key, alt=f"Probabilities of the ten digits {words}", on=on)


def verdict(probabilities: np.ndarray, equal: Field[bool]) -> None:
    """Say in one line which digit is read, beside the switch that makes every weight equal."""
    words = f'<p class="reads">Reads <b>{probabilities.argmax()}</b> ({probabilities.max():.0%})</p>'
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.html(words, width="content")
        equal.widget(st.toggle, "Every weight equal")


def equal_weights(own: np.ndarray, equal: np.ndarray, switch: Field[bool], scroll_to: str) -> TryThis:
    """Return the surprise: with every weight equal the same network no longer reads the digit.

    Args:
        own: probabilities of the ten digits with the network's own weights.
        equal: likewise with every weight equal.
        switch: makes them equal.
        scroll_to: see TryThis.
    """
    digit, after = int(own.argmax()), int(equal.argmax())

    def act() -> None:
        switch.value = True

    def outcome() -> tuple[int, str]:
        words = f"With its own weights it reads {digit} ({own.max():.0%}), with equal ones {after} ({equal.max():.0%})."
        return int(after != digit), words

    question = "With every weight equal: what will the same network read?"
    return TryThis("Make every weight equal", question, (f"Still {digit}", "Something else"), act, outcome, scroll_to)
