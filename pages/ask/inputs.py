"""What one changes in an experiment of the page: the drawing, and the question about it."""

from typing import NamedTuple

from streamlit.delta_generator import DeltaGenerator

from attention_core.data.questions import ParsedQuestion
from attention_core.models.scene_question import SceneAnswer
from pages.ask.first_screen import MODEL, NAME, PadScene, draw_question, learned_and_edited, scene_pad
from pages.ask.numbers import export_glimpse
from ui.canvas import columns_beside_pad
from ui.computed import model_or_stop
from ui.player import Walk
from ui.take_along import take_along

WALK = Walk(NAME, label="Look")


class SceneWithQuestion(NamedTuple):
    """A drawing, a question about it, its answers, and the container beside the pad."""

    drawing: PadScene
    reading: ParsedQuestion
    learned: SceneAnswer
    answer: SceneAnswer  # with the visitor's edits
    beside: DeltaGenerator


def draw_scene_and_question() -> SceneWithQuestion:
    """Draw the pad, and beside it the box of the question."""
    pad_column, beside = columns_beside_pad()
    with pad_column:
        drawing, _ = scene_pad()
    model_or_stop(MODEL)
    with beside.container(key="experiment_input_question"):
        reading, _ = draw_question(drawing)
    learned, answer = learned_and_edited(drawing, reading)
    take_along(lambda: export_glimpse(drawing, reading.question, answer))
    return SceneWithQuestion(drawing, reading, learned, answer, beside)
