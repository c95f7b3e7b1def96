"""Can it read my own handwriting? A photograph, and the steps that make of it what the network sees."""

import numpy as np

from attention_core.data.canvases import ink_picture
from attention_core.data.scenes import READ_SIZE
from pages.read.changes import read_again
from pages.read.pad import MODEL, NAME, PAD_SIZE
from ui.handwriting import PaperExperiment


def _read_number(picture: np.ndarray) -> str:
    return read_again(MODEL, picture).digits or "nothing"


EXPERIMENT = PaperExperiment(
    NAME, MODEL, "305", PAD_SIZE, READ_SIZE, lambda canvas: ink_picture(canvas, READ_SIZE).picture, _read_number
)
draw_input = EXPERIMENT.draw_input
answer = EXPERIMENT.answer
draw = EXPERIMENT.draw
