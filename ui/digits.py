"""What pages about digits share: what a model reads in a picture, and which pixel asks."""

from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from attention_core.charts import probability_bars
from attention_core.charts.heatmap import picture
from attention_core.charts.vega import INK_RAMP
from attention_core.data.drawing import prepare
from attention_core.topics import pixels
from ui.chart import click, draw_chart
from ui.computed import cached_computation, model_or_stop
from ui.state import Field, whole_number

FRAME = (200, 205, 211)


Given = ParamSpec("Given")
Value = TypeVar("Value")


def by_model(
    function: Callable[Concatenate[Any, Given], Value], *, spinner: str = ""
) -> Callable[Concatenate[str, Given], Value]:
    """Return a function of the core that takes a model first, to be called with its name; see cached_computation."""
    answer = cached_computation(by_model=True, spinner=spinner)(function)

    @wraps(function)
    def asked(name: str, *args: Given.args, **kwargs: Given.kwargs) -> Value:
        return answer(model_or_stop(name), *args, **kwargs)

    return asked


read_image = by_model(pixels.ask)
"""What a model reads in one picture, float (28, 28)."""
prepared = cached_computation()(prepare)
"""A canvas, uint8 (height, width, 4), as the models see it."""


def read_digit(image: np.ndarray) -> pixels.Answer:
    """Return what the attention model says about a prepared picture, float (28, 28)."""
    return read_image("pixel-classifier", torch.from_numpy(image))


def inked(image: np.ndarray) -> np.ndarray:
    """Return a picture of ink, from 0 to 1, in its colours, uint8 (rows, columns, 3)."""
    return INK_RAMP.lookup()[np.rint(image * 255).astype(int)].astype(np.uint8)


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
    on: DeltaGenerator = st._main,
) -> None:
    """Draw probabilities of the ten digits, (10,) by the name of who says so."""
    chart = probability_bars(series, [str(digit) for digit in range(10)], height=height)
    draw_chart(chart, key=key, alt=f"Probabilities of the ten digits {words}", on=on)


@cache
def query_field(name: str) -> Field[int | None]:
    """Return which pixel asks, from 0; None until one was chosen."""
    return Field(name, "query", None, address="pixel", parse=whole_number)


def chosen_query(image: np.ndarray, name: str) -> int:
    """Return the position that was clicked, or that the address names, or the ink pixel nearest the ink's centre."""
    chosen = query_field(name).value
    return chosen if chosen is not None and chosen < image.size else central_ink(image)


def pick_pixel(image: np.ndarray, name: str, size: int, key: str = "pick") -> None:
    """Draw the picture as the model sees it, the query framed; a click on a pixel makes it the query."""
    marked = chosen_query(image, name)
    draw_chart(
        picture(image, INK_RAMP, title="ink", size=size, marked=marked, select="pixel", bar=False),
        **click(f"{name}_{key}", "pixel", "position", query_field(name)),
        width="content",
        alt="The 28 x 28 picture that the model sees; click a pixel to make it the query",
    )


def central_ink(image: np.ndarray) -> int:
    """Return the position of the ink pixel nearest the ink's centre, or the middle of an empty picture."""
    rows, cols = np.nonzero(image > 0.5)
    if not len(rows):
        return image.size // 2 + image.shape[1] // 2
    nearest = np.argmin((rows - rows.mean()) ** 2 + (cols - cols.mean()) ** 2)
    return int(rows[nearest] * image.shape[1] + cols[nearest])
