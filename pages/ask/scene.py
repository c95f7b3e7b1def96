"""The scene of a question: look after look it asks every region of the drawing, and an answer comes of it."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

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


class Answers(NamedTuple):
    """A network's answers to a question."""

    learned: SceneAnswer
    equal: SceneAnswer  # were all weights equal
    edited: SceneAnswer  # with the visitor's edits


def draw_question_scene(
    canvas: np.ndarray,
    answers: Answers,
    n_looks: int,
    state: dict[str, Any],
    on_look: Callable[[int], None],
    on_equal: Callable[[bool], None],
    on_cut: Callable[[int], None],
) -> None:
    """Draw on the pad the looks of an answer at a drawing, uint8 (height, width, 4), and what comes of them.

    The state says which look is shown in the end ("query"), and whether all weights are equal ("isEven"), the pad is
    empty ("isEmpty") and the scene plays ("plays"). The callbacks get another look, whether all weights are to be
    equal, and a region from which nothing is to be taken.
    """
    is_changed = not state["isEven"] and answers.edited is not answers.learned
    shown = answers.edited if is_changed else answers.learned
    looks = shown.looks[:n_looks]
    for number, look in enumerate(looks, 1):
        weights = to_array(look.weights()[0, :-1]).reshape(look.story.key_axis.picture_grid)
        note_picture(partial(overlay, canvas, weights), f"Look {number}, over the drawing")
    words = [[*zip(trace.story.key_axis.labels, trace.weights()[0].tolist(), strict=True)] for trace in shown.words]
    picture = picture_address(image_png(canvas))
    data = picture_scene_data(looks, picture, words[:n_looks], _likeliest(shown), _likeliest(answers.equal))
    data |= state | {"pad": NAME, "covered": TRY_STAGE[NAME].value == GUESSING}
    if is_changed:
        hidden = looks[0].allowed(0, [0])
        data["learned"] = _likeliest(answers.learned)
        data["cut"] = [] if hidden is None else (~to_array(hidden[0, :-1])).nonzero()[0].tolist()
    draw_picture_scene(NAME, data, on_look, on_equal, on_cut)


def _likeliest(answer: SceneAnswer) -> list[tuple[str, float, str]]:
    """Return the likeliest answers in words, each with its probability, and its colour if it is one."""
    best = answer.probabilities.topk(N_ANSWERS)
    texts = [answer_in_words(ANSWERS[index]) for index in best.indices.tolist()]
    return [(text, round(share, 4), PEN.get(text, "")) for text, share in zip(texts, best.values.tolist(), strict=True)]
