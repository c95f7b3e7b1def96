"""What pages about digits share: what a model reads in a picture, and what it reads with every weight equal."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
import streamlit as st

from attention_core.data.drawing import CanvasRemark, prepare
from attention_core.inference import digits as pixels
from ui.canvas import Pad, render_strokes
from ui.computed import by_model, cached_computation
from ui.layout import ink_ramp
from ui.try_this import TryThis

NEAR = 2.0  # points of per cent
ONE_COLOUR = "The whole pad has one colour. Undo takes the last stroke away."
WORTH = "digits_worth"
"""The key of what tells how well a digit is read without attention, which answers the surprise's question."""
read_image = by_model(pixels.ask)
"""What a model reads in one picture, float (28, 28)."""
prepared = cached_computation()(prepare)
"""A canvas, uint8 (height, width, 4), as the models see it."""


def inked(image: np.ndarray) -> np.ndarray:
    """Return a picture of ink, from 0 to 1, in its colours, uint8 (rows, columns, 3)."""
    return ink_ramp().lookup()[np.rint(image * 255).astype(int), :3]


def verdict(title: str, probabilities: np.ndarray) -> None:
    """Say with which weights a digit is read, and as which."""
    digit, share = probabilities.argmax(), probabilities.max()
    st.html(f'<p class="reads"><span>{title} reads</span> <b>{digit}</b> ({share:.0%})</p>')


def beside(one: str, other: str, are_errors: bool = False) -> str:
    """Return how good an accuracy is beside another one, as both are printed: "98.1%", or a range."""
    own, its = (np.mean([float(number) for number in re.findall(r"[\d.]+", text)]) for text in (one, other))
    ahead = round(float(its - own if are_errors else own - its), 3)
    if ahead >= 0:
        return "better" if ahead else "as good"
    return "almost as good" if ahead >= -NEAR else "worse"


def remark_on(remarks: Mapping[Any, str], remark: Any, is_drawn: bool) -> str:
    """Return what is said of a drawing; one of which nothing can be seen may be a pad that is painted all over."""
    return ONE_COLOUR if remark is CanvasRemark.EMPTY and is_drawn else remarks.get(remark, "")


def all_ten(
    read: Callable[[np.ndarray], Iterable[np.ndarray]], pad: Pad, scroll_to: str, equal: str = "equal"
) -> TryThis:
    """Return the surprise: what is read in all ready drawings of a pad, with its own weights and with equal ones.

    `read` returns, of a canvas, the probabilities of the ten digits both ways; `equal` says what the weights are then.
    """

    @cache
    def both() -> np.ndarray:
        drawings = [render_strokes(strokes(), pad.size, "light") for strokes in pad.presets.values()]
        return np.transpose([[one.argmax() for one in read(drawing)] for drawing in drawings])

    def outcome() -> tuple[int, str]:
        own, alike = (both() == np.arange(10)).sum(1)
        return (
            0 if alike > 7 else 1 if alike > 3 else 2
        ), f"{own} of 10 as learned, {alike} with every weight {equal}."

    def tiles() -> None:
        rows = zip(("Drawn", "As learned", f"All {equal}"), (np.arange(10), *both()), strict=True)
        st.html(f'<table class="ten">{"".join(_row(name, digits) for name, digits in rows)}</table>')

    question = f"With every weight {equal}, how many of ten drawn digits will it read?"
    options = ("Nearly all", "About half", "Three at most")
    asked = "Read all ten digits both ways", question, options, None, outcome, scroll_to, tiles
    return TryThis(*asked, hides=f".st-key-{WORTH}")


def _row(name: str, digits: np.ndarray) -> str:
    kinds = [
        "drawn" if name == "Drawn" else "right" if digit == place else "wrong" for place, digit in enumerate(digits)
    ]
    tiles = (f'<td class="{kind}">{digit}</td>' for kind, digit in zip(kinds, digits, strict=True))
    return f"<tr><th>{name}</th>{''.join(tiles)}</tr>"
