"""The scene of a question: look after look it asks every region of the drawing, and an answer comes of it."""

from collections.abc import Callable
from functools import partial

import numpy as np

from attention_core.attention.view.scene import picture_scene_data
from attention_core.charts.overlay import image_png, overlay
from attention_core.data.colours import PEN
from attention_core.data.questions import ANSWERS, answer_in_words
from attention_core.device import to_array
from attention_core.models.scene_question import SceneAnswer
from ui.chart import note_picture, picture_address
from ui.scene import draw_picture_scene
from ui.try_this import GUESSING, TRY_STAGE

NAME = "ask"
N_ANSWERS = 3
NOTE = "A piece of the drawing stands for the numbers of its region."


def draw_question_scene(
    canvas: np.ndarray,
    answer: SceneAnswer,
    uniform: SceneAnswer,
    n_looks: int,
    chosen: int,
    *,
    is_uniform: bool,
    is_present: bool,
    on_look: Callable[[int], None],
    on_uniform: Callable[[bool], None],
) -> None:
    """Draw the looks of an answer at a drawing, uint8 (height, width, 4), and what comes of them.

    `uniform` is the answer were all weights equal, `chosen` a look, from 0, which is shown once all have been. What is
    not present, but was asked last, rests. The callbacks get another one, and whether all weights are to be equal.
    """
    looks = answer.looks[:n_looks]
    for number, look in enumerate(looks, 1):
        weights = to_array(look.weights()[0, :-1]).reshape(look.story.key_axis.picture_grid)
        note_picture(partial(overlay, canvas, weights), f"Look {number}, over the drawing")
    words = [[*zip(trace.story.key_axis.labels, trace.weights()[0].tolist(), strict=True)] for trace in answer.words]
    data = picture_scene_data(
        looks, picture_address(image_png(canvas)), words[:n_looks], _likeliest(answer), _likeliest(uniform)
    )
    data |= {"query": chosen, "isEven": is_uniform, "note": NOTE, "plays": is_present}
    data["covered"] = TRY_STAGE[NAME].value == GUESSING
    draw_picture_scene(NAME, data, on_look, on_uniform)


def _likeliest(answer: SceneAnswer) -> list[tuple[str, float, str]]:
    """Return the likeliest answers in words, each with its probability, and its colour if it is one."""
    best = answer.probabilities.topk(N_ANSWERS)
    texts = [answer_in_words(ANSWERS[index]) for index in best.indices.tolist()]
    return [(text, round(share, 4), PEN.get(text, "")) for text, share in zip(texts, best.values.tolist(), strict=True)]
