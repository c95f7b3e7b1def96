"""Why does it misread digits on paper? A photograph, and the steps that make of it what the network sees."""

import numpy as np
import torch

from attention_core.attention.wording import percent
from attention_core.data.drawing import SIDE, prepare
from pages.pixels.first_screen import NAME, PLAIN
from ui.digits import read_image
from ui.handwriting import PaperExperiment


def _read_digit(picture: np.ndarray) -> str:
    reading = read_image(PLAIN, torch.from_numpy(picture))
    return f"{reading.digit} ({percent(reading.confidence)})"


def _picture(canvas: np.ndarray) -> np.ndarray:
    return prepare(canvas).image


EXPERIMENT = PaperExperiment(NAME, PLAIN, "4", (200, 200), (SIDE, SIDE), _picture, _read_digit, is_single_digit=True)
draw_input = EXPERIMENT.draw_input
answer = EXPERIMENT.answer
draw = EXPERIMENT.draw
