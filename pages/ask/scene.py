"""The scene of a question: look after look it asks every region of the drawing, and an answer comes of it."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from attention_core.charts.overlay import image_png, overlay
from attention_core.device import to_array
from attention_core.inference.scenes import likeliest_answers, question_scene_data
from attention_core.models.scene_question import SceneAnswer
from ui.chart import note_picture, picture_address
from ui.component import component
from ui.scene import draw_picture_scene
from ui.try_this import is_guessing

NAME = "ask"
NOTE = "A region sees its surroundings, too."
_scene = component("question_scene", folder="pages/ask")


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
        note_picture(partial(overlay, canvas, weights), f"Look {number}")
    data = question_scene_data(shown, answers.equal, n_looks, picture_address(image_png(canvas)))
    data |= state | {"note": NOTE, "pad": NAME, "covered": is_guessing(NAME)}
    if is_changed:
        hidden = looks[0].allowed(0, [0])
        data["learned"] = likeliest_answers(answers.learned)
        data["cut"] = [] if hidden is None else (~to_array(hidden[0, :-1])).nonzero()[0].tolist()
    draw_picture_scene(NAME, data, on_look, on_equal, on_cut, scene=_scene)
