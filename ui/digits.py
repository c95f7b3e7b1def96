"""What pages about digits share: what a model reads in a picture, and which pixel asks."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.edits import Edits
from attention_core.attention.trace import AttentionTrace
from attention_core.charts.palette import INK_RAMP
from attention_core.charts.picture import picture
from attention_core.data.drawing import prepare
from attention_core.device import device_of, to_array
from ui.chart import draw_chart
from ui.computed import computed, model_or_stop
from ui.state import Field, selected, whole_number

FRAME = (200, 205, 211)


@dataclass(frozen=True, eq=False)
class Answer:
    """What a model says about one picture.

    Attributes:
        probabilities: float (10,).
        traces: one per attention layer.
    """

    probabilities: np.ndarray
    traces: tuple[AttentionTrace, ...]

    @property
    def digit(self) -> int:
        return int(self.probabilities.argmax())

    @property
    def confidence(self) -> float:
        return float(self.probabilities.max())


@computed(by_model=True)
def ask(name: str, image: Tensor, edits: Edits = (), trace: bool = True) -> Answer:
    """Let a model read one picture, float (28, 28)."""
    model = model_or_stop(name)
    device = device_of(model)
    prediction = model(image[None].to(device), edits=edits, trace=trace)
    return Answer(to_array(prediction.logits.softmax(-1)[0]), prediction.traces)


prepared = computed()(prepare)
"""A canvas, uint8 (height, width, 4), as the models see it."""


def read_digit(image: np.ndarray) -> Answer:
    """Return what the attention model says about a prepared picture, float (28, 28)."""
    return ask("pixel-classifier", torch.from_numpy(image))


def inked(image: np.ndarray) -> np.ndarray:
    """Return a picture of ink, from 0 to 1, in its colours, uint8 (rows, columns, 3)."""
    return INK_RAMP.lookup()[np.rint(image * 255).astype(int)].astype(np.uint8)


def ink_image(image: np.ndarray, size: int, words: str) -> None:
    """Draw a 28 x 28 picture as a plain image with a thin frame: nothing in it answers the mouse, so it is cheap."""
    factor = size // image.shape[0]
    pixels = inked(image).repeat(factor, 0).repeat(factor, 1)
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
        edge[:] = FRAME
    st.image(pixels, width=size, output_format="PNG", alt=words)


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
    query, key = chosen_query(image, name), f"{name}_{key}"
    draw_chart(
        picture(image, INK_RAMP, title="ink", size=size, marked=query, select="pixel", bar=False),
        key=key,
        on_select=lambda: _take_click(name, key),
        selection_mode="pixel",
        width="content",
        alt="The 28 x 28 picture that the model sees; click a pixel to make it the query",
    )


def _take_click(name: str, key: str) -> None:
    """Make the clicked pixel the query; runs before the page does."""
    clicked = selected(key, "pixel")
    if clicked:
        query_field(name).value = int(clicked[0]["position"])


def central_ink(image: np.ndarray) -> int:
    """Return the position of the ink pixel nearest the ink's centre, or the middle of an empty picture."""
    rows, cols = np.nonzero(image > 0.5)
    if not len(rows):
        return image.size // 2 + image.shape[1] // 2
    nearest = np.argmin((rows - rows.mean()) ** 2 + (cols - cols.mean()) ** 2)
    return int(rows[nearest] * image.shape[1] + cols[nearest])
