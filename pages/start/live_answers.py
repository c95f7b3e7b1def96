"""The models' answers for Start: a translation and a question about a drawing, without attention and with it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_core import Role, Uniform
from attention_core.data.canvases import group_strokes
from attention_core.data.drawing import draw_strokes
from attention_core.data.questions import ANSWERS, answer_in_words, read_question
from attention_core.data.scene_questions import SceneDigit
from attention_core.data.stroke import Stroke
from attention_core.inference.read_back import words_only_in
from attention_core.inference.scenes import is_clear, read_digits, scene_input
from attention_core.inference.translation_scene import vector_data
from attention_core.models.scene_question import SceneAnswer, SceneQuestion
from ui.computed import by_model
from ui.layout import role_span
from ui.translation_scene import attention_data
from ui.translators import FIRST, traced_translation

SIDE = 320  # of the drawing, in its own pixels
INK, PAPER = "#15191E", "#FFFFFF"
UNIFORM_ANSWER, CHOSEN_ANSWER = "If it may not choose where to look", "Free to choose"
explain, read = by_model(SceneQuestion.explain), by_model(read_digits)


def roles_line() -> str:
    """Return HTML that says what query, key and value are here."""
    query, key, value = (role_span(role) for role in (Role.QUERY, Role.KEY, Role.VALUE))
    return (
        f'<p class="who">A {query} asks: a French word, a question. The better a {key} fits, an English word or a '
        f"place in the drawing, the more of its {value} is handed over: its "
        f"{role_span(Role.WEIGHTS, 'weight')}.</p>"
    )


def sentence_answer(text: str) -> dict[str, Any]:
    """Return the scene of a sentence: what comes of one vector, of attention, and of equal weights."""
    single, attentive = (traced_translation(name, text, ()) for name in FIRST.values())
    french = attentive.view.target
    unique = words_only_in(french, single.view.target)
    return attention_data(attentive, text) | {
        "vector": vector_data(single, text),
        "query": unique[-1] if unique else max(range(len(french)), key=lambda row: len(french[row])),
    }


def canvas_of(strokes: Sequence[Stroke]) -> np.ndarray:
    """Return a drawing as the model is shown it, uint8 (SIDE, SIDE, 4)."""
    return draw_strokes(strokes, (SIDE, SIDE), INK, PAPER)


def scene_answer(strokes: Sequence[Stroke], question: str) -> dict[str, Any]:
    """Return where a network looks to answer a question about a drawing, and its answers, also without choosing.

    A QuestionError says why the question cannot be read.
    """
    reading, digits = read_question(question), digits_of(strokes)
    words, n_looks = reading.words, reading.question.n_looks
    picture = scene_input(canvas_of(strokes)).picture
    inputs = picture, words, "dot"
    chosen = explain("scene-question", *inputs)
    looks = [
        {
            "words": [
                [label, round(share, 3)]
                for label, share in zip(read.story.key_axis.labels, read.weights()[0].tolist(), strict=True)
            ],
            "weights": [round(weight, 4) for weight in look.weights()[0].tolist()[:-1]],
        }
        for read, look in zip(chosen.words[:n_looks], chosen.looks[:n_looks], strict=True)
    ]
    uniform = explain("scene-question", *inputs, (Uniform(),))
    answers = [[UNIFORM_ANSWER, *_best(uniform)], [CHOSEN_ANSWER, *_best(chosen)]]
    return {"looks": looks, "said": answers, "clear": is_clear(reading.question, digits)}


def digits_of(strokes: Sequence[Stroke]) -> list[SceneDigit]:
    """Return the digits of a drawing as the model reads each of them alone."""
    groups = group_strokes(strokes, SIDE, PAPER)
    pictures = [scene_input(canvas_of([strokes[index] for index in group.strokes])).picture for group in groups]
    return read("scene-question", pictures, [(group.colour, group.box) for group in groups])


def _best(answer: SceneAnswer) -> tuple[str, float]:
    index = int(answer.probabilities.argmax())
    return answer_in_words(ANSWERS[index]), round(float(answer.probabilities[index]), 3)
