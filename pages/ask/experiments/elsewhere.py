"""What if it looked elsewhere? A region is brushed over, and all looks are changed there."""

import numpy as np

from attention_core.data.questions import ANSWERS, answer_in_words
from attention_core.device import to_array
from pages.ask.first_screen import EDITS, NAME
from pages.ask.inputs import SceneWithQuestion, draw_scene_and_question
from ui.edits import draw_outcome
from ui.region import Region

REGIONS = Region(NAME, EDITS, "regions")
NAMES = [answer_in_words(answer) for answer in ANSWERS]
draw_input = draw_scene_and_question


def answer(scene: SceneWithQuestion) -> str:
    """Say what the visitor's changes make of the answer."""
    return REGIONS.describe(NAMES, *_probabilities(scene))


def draw(scene: SceneWithQuestion) -> None:
    """Draw the last look, to be brushed over, and the answer before and after."""
    n_looks = scene.reading.question.n_looks
    traces = [scene_answer.looks[n_looks - 1] for scene_answer in (scene.learned, scene.answer)]
    grid = traces[0].story.key_axis.grid
    before, after = (to_array(trace.weights()[0, :-1]).reshape(grid) for trace in traces)
    with scene.beside:
        outcome = REGIONS.draw(scene.drawing.canvas, before, after, *scene.answer.looks[:n_looks])
    with outcome:
        draw_outcome(NAMES, *_probabilities(scene))


def _probabilities(scene: SceneWithQuestion) -> tuple[np.ndarray, np.ndarray]:
    return to_array(scene.learned.probabilities), to_array(scene.answer.probabilities)
