"""What pages about digits share: what a model reads in a picture, and the picture itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.interventions import NO_INTERVENTION, Intervention
from attention_core.attention.trace import AttentionTrace
from attention_core.charts.palette import INK_RAMP
from attention_core.device import device_of, to_array
from ui.computed import computed
from ui.models import model_or_stop

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
        """The most probable digit."""
        return int(self.probabilities.argmax())

    @property
    def confidence(self) -> float:
        """Its probability."""
        return float(self.probabilities.max())


@computed()
def ask(name: str, image: Tensor, intervention: Intervention = NO_INTERVENTION, trace: bool = True) -> Answer:
    """Let a model read one picture, float (28, 28)."""
    model = model_or_stop(name)
    device = device_of(model)
    prediction = model(image[None].to(device), intervention=intervention, trace=trace)
    return Answer(to_array(prediction.logits.softmax(-1)[0]), prediction.traces)


def read_digit(image: np.ndarray) -> Answer:
    """Return what the attention model says about a prepared picture, float (28, 28)."""
    return ask("pixel-classifier", torch.from_numpy(image))


def ink_image(image: np.ndarray, size: int, words: str) -> None:
    """Draw a 28 x 28 picture as a plain image with a thin frame: nothing in it answers the mouse, so it is cheap."""
    factor = size // image.shape[0]
    pixels = INK_RAMP.lookup()[np.rint(image * 255).astype(int)].repeat(factor, 0).repeat(factor, 1)
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
        edge[:] = FRAME
    st.image(pixels.astype(np.uint8), width=size, output_format="PNG", alt=words)
