"""The models' answers for Start: a translation and a question about a drawing, without attention and with it."""

from collections.abc import Sequence
from typing import Any

from attention_core import Uniform
from attention_core.data.canvases import group_strokes
from attention_core.data.drawing import draw_strokes
from attention_core.data.presets import SCENES, scene_strokes
from attention_core.data.questions import read_question
from attention_core.data.scene_questions import SceneDigit
from attention_core.data.stroke import Stroke
from attention_core.inference.read_back import gaps_in, words_only_in
from attention_core.inference.scenes import is_clear, question_scene_data, read_digits, scene_input
from attention_core.inference.translation_scene import is_sound, vector_data, word_glosses
from attention_core.models.scene_question import SceneQuestion
from ui.computed import by_model
from ui.translation_scene import attention_data
from ui.translators import FIRST, traced_translation

SIDE = 320  # of the drawing, in its own pixels
ON_WHITE = ("#15191E", "#FFFFFF")  # ink and paper
QUESTIONS = (
    FIRST_QUESTION := "which digit is left of the blue one?",
    "what colour is the 8?",
    "how many digits are there?",
)
MODEL = "scene-question"
explain, read = by_model(SceneQuestion.explain), by_model(read_digits)


def sentence_answer(text: str) -> dict[str, Any]:
    """Return the scene of a sentence: what comes of one vector, of attention, and of equal weights."""
    single, attentive = (traced_translation(name, text, ()) for name in FIRST.values())
    french = attentive.view.target
    unique, vector = words_only_in(french, single.view.target), vector_data(single, text)
    vector["glosses"] = word_glosses(single, text)
    if vector["lost"] and is_sound(attentive, text):
        vector |= {"wrong": words_only_in(single.view.target, french), "gaps": gaps_in(single.view.target, french)}
    return attention_data(attentive, text) | {
        "vector": vector,
        "query": unique[-1] if unique else max(range(len(french)), key=lambda row: len(french[row])),
    }


def first_strokes() -> list[Stroke]:
    """Return the drawing that is there on arrival."""
    return scene_strokes(SCENES["Five colours"], SIDE)


def scene_answer(strokes: Sequence[Stroke], question: str, colours: tuple[str, str] = ON_WHITE) -> dict[str, Any]:
    """Return the data of the scene of an answer, but for its picture, and whether the question is clear.

    The colours are those of ink and paper. A QuestionError says why the question cannot be read.
    """
    reading = read_question(question)
    inputs = scene_input(draw_strokes(strokes, (SIDE, SIDE), *colours)).picture, reading.words, "dot"
    learned, equal = (explain(MODEL, *inputs, edits) for edits in ((), (Uniform(),)))
    data = question_scene_data(learned, equal, reading.question.n_looks, "")
    data["boxes"] = [group.box for group in group_strokes(strokes, SIDE, colours[1])]
    return data | {"clear": is_clear(reading.question, digits_of(strokes, colours))}


def digits_of(strokes: Sequence[Stroke], colours: tuple[str, str]) -> list[SceneDigit]:
    """Return the digits of a drawing as the model reads each of them alone."""
    groups = group_strokes(strokes, SIDE, colours[1])
    canvases = [draw_strokes([strokes[index] for index in group.strokes], (SIDE, SIDE), *colours) for group in groups]
    return read(
        MODEL, [scene_input(canvas).picture for canvas in canvases], [(group.colour, group.box) for group in groups]
    )
