"""Asking a scene question model: a canvas becomes its input, clear questions about it, the scene of an answer."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.view.scene import picture_scene_data
from attention_core.data import drawing
from attention_core.data.canvases import CanvasRemark, colour_picture, coloured_input
from attention_core.data.colours import PEN
from attention_core.data.questions import (
    ANSWERS,
    DIGITS,
    PLACES,
    RELATIONS,
    Question,
    QuestionKind,
    answer_in_words,
    format_question,
    pad_questions,
    question_words,
    word_ids_of,
)
from attention_core.data.scene_questions import BESIDE, TWO_STEPS, SceneDigit, answer
from attention_core.data.scenes import ASK_SIDE
from attention_core.models.scene_question import SceneAnswer, SceneQuestion

N_ANSWERS = 3


class SceneInput(NamedTuple):
    """A canvas as the model sees it."""

    picture: Tensor  # (4, 64, 64), see coloured_input
    rgb: np.ndarray  # uint8 (64, 64, 3), the same for people, on the canvas' own paper
    remark: CanvasRemark | None  # what is unusual about the canvas, or None


def scene_input(canvas: np.ndarray) -> SceneInput:
    """Return a canvas, uint8 (side, side, 4), as the model sees it."""
    ink = colour_picture(canvas, ASK_SIDE)
    coverage, colours = torch.from_numpy(ink.coverage), torch.from_numpy(ink.colours)
    paper = drawing.background_of(drawing.flattened(canvas))[:, None, None]
    on_paper = 255 * ink.colours * ink.coverage + paper * (1 - ink.coverage)
    rgb = np.rint(on_paper.transpose(1, 2, 0)).astype(np.uint8)
    return SceneInput(coloured_input(coverage, colours), rgb, ink.remark)


def question_scene_data(answer: SceneAnswer, equal: SceneAnswer, n_looks: int, picture: str) -> dict[str, Any]:
    """Return what picture_scene.js reads of an answer, and of that with equal weights; `picture` is an address."""
    words = [
        [*zip(trace.story.key_axis.labels, trace.weights()[0].tolist(), strict=True)]
        for trace in answer.words[:n_looks]
    ]
    likeliest = map(likeliest_answers, (answer, equal))
    return picture_scene_data(answer.looks[:n_looks], picture, words, *likeliest)


def likeliest_answers(answer: SceneAnswer) -> list[tuple[str, float, str]]:
    """Return the likeliest answers in words, each with its probability, and its colour if it is one."""
    best = answer.probabilities.topk(N_ANSWERS)
    texts = [answer_in_words(ANSWERS[index]) for index in best.indices.tolist()]
    return [(text, round(share, 4), PEN.get(text, "")) for text, share in zip(texts, best.values.tolist(), strict=True)]


@torch.inference_mode()
def read_digits(
    model: SceneQuestion, pictures: Sequence[Tensor], boxes: Sequence[tuple[str, tuple[float, ...]]]
) -> list[SceneDigit]:
    """Return the digits of a drawing, each read by the model from a picture (4, 64, 64) of it alone.

    The places have the colour of each and its box (top, left, bottom, right) in shares of the drawing's side.
    """
    if not pictures:
        return []
    questions = [format_question(Question(QuestionKind.DIGIT_OF_COLOUR, colour=colour)) for colour, _ in boxes]
    word_ids = pad_questions([word_ids_of(question_words(text)) for text in questions])
    answers = model(torch.stack(list(pictures)).to(model.row.device), word_ids.to(model.row.device)).logits.argmax(1)
    return [
        SceneDigit(ANSWERS[number], colour, (left + right) / 2, (top + bottom) / 2)
        for number, (colour, (top, left, bottom, right)) in zip(answers.tolist(), boxes, strict=True)
    ]


EXAMPLES = (
    Question(QuestionKind.DIGIT_BESIDE, relation="left of", colour="blue"),
    Question(QuestionKind.DIGIT_TWO_STEPS, relation="below", colour="blue", between="right of"),
    Question(QuestionKind.COLOUR_OF_DIGIT, digit="7"),
    Question(QuestionKind.COUNT, colour="red"),
    Question(QuestionKind.DIGIT_AT, place="top left"),
    Question(QuestionKind.EXISTS, digit="3"),
    Question(QuestionKind.DIGIT_OF_COLOUR, colour="green"),
    Question(QuestionKind.COLOUR_AT, place="bottom"),
    Question(QuestionKind.COLOUR_BESIDE, relation="above", digit="2"),
    Question(QuestionKind.COLOUR_TWO_STEPS, relation="left of", colour="green", between="below"),
)
"""One of every kind, the most telling first."""
UNCLEAR = (
    "**An unclear question about this drawing**: people would name different digits, or none. The network answers all "
    "the same, however sure it is."
)


def is_clear(question: Question, items: list[SceneDigit]) -> bool:
    """Return whether all people would give the same answer."""
    return answer(question, items) is not None


def clear_questions(items: list[SceneDigit]) -> list[Question]:
    """Return a question of every kind that has one about some digits and a clear answer among them; EXAMPLES first."""
    questions = []
    for example in EXAMPLES:
        options = (example, *_alike(example.kind, items))
        questions += [question for question in options if (reply := answer(question, items)) and reply[1]][:1]
    return questions or [Question(QuestionKind.COUNT)]


def _alike(question_kind: QuestionKind, items: list[SceneDigit]) -> Iterator[Question]:
    """Yield the questions of a kind that name what is drawn."""
    pairs = (pair for item in items for pair in ((None, item.colour), (item.digit, None)))
    named = dict.fromkeys((digit, colour) for digit, colour in pairs if digit is None or digit in DIGITS)
    only_named = {QuestionKind.DIGIT_OF_COLOUR: "colour", QuestionKind.COLOUR_OF_DIGIT: "digit"}.get(question_kind, "")
    if question_kind in (QuestionKind.DIGIT_AT, QuestionKind.COLOUR_AT):
        yield from (Question(question_kind, place=region) for region in PLACES)
        return
    relations = RELATIONS if question_kind in (*BESIDE, *TWO_STEPS) else (None,)
    second_relations = RELATIONS if question_kind in TWO_STEPS else (None,)
    for (digit, colour), relation, between in product(named, relations, second_relations):
        if not only_named or {"digit": digit, "colour": colour}[only_named]:
            yield Question(question_kind, relation=relation, digit=digit, colour=colour, between=between)
