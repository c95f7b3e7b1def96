"""What the models say for Start: a drawing with the row of every pixel, a sentence with its arcs."""

from typing import Any

import numpy as np
from PIL import Image

from attention_core.charts.heatmap import png
from attention_core.data.drawing import prepare
from attention_core.data.presets import preset_canvas
from attention_core.device import to_array
from ui.digits import read_digit
from ui.translate.first_screen import shown_translation
from ui.words import word_data

LEVELS = 15


def drawing_answer(digit: int) -> dict[str, Any]:
    """Return a digit's ink, what the network says, and the weights as one grey picture, a line for every query."""
    image = prepare(preset_canvas(digit)).image
    answer = read_digit(image)
    weights = to_array(answer.traces[0].weights())
    shares = np.sqrt(weights / weights.max(1, keepdims=True))  # the root shows small weights beside the largest
    return {
        "ink": [round(float(ink), 2) for ink in image.ravel()],
        "says": f"The network reads **{answer.digit}** ({answer.confidence:.0%}).",
        "looks": png(Image.fromarray((np.rint(LEVELS * shares) * (255 // LEVELS)).astype(np.uint8))),
    }


def sentence_answer(sentence: str, translator: str) -> dict[str, Any]:
    """Return a sentence's words, its translation's, and where each of these looks."""
    view = shown_translation(translator, sentence, (), 1, False).view
    plain = {"note": "", "plain": True, "single": "", "forced": 0, "active": 0}
    return word_data(view, translator) | plain
