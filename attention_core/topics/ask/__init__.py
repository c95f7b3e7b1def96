"""Asking a scene question model: a canvas becomes its input, many questions or many drawings are answered at once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.data import drawing
from attention_core.data.canvases import CanvasRemark, colour_picture, coloured_input
from attention_core.data.questions import ANSWERS, Question, QuestionKind, numbers_of, question_words
from attention_core.data.scenes import ASK_SIDE
from attention_core.device import to_array
from attention_core.models.scene_question import SceneQuestion

MIN_INK = 0.2  # a region with less ink than this in every pixel is bare paper


class SceneInput(NamedTuple):
    """A canvas as the model sees it."""

    picture: Tensor  # (4, 64, 64), see coloured_input
    shown: np.ndarray  # uint8 (64, 64, 3), the same for people, on the canvas' own paper
    remark: CanvasRemark | None  # what is unusual about the canvas, or None


def scene_input(canvas: np.ndarray) -> SceneInput:
    """Return a canvas, uint8 (side, side, 4), as the model sees it."""
    seen = colour_picture(canvas, ASK_SIDE)
    coverage, colours = torch.from_numpy(seen.coverage), torch.from_numpy(seen.colours)
    paper = drawing.background_of(drawing.flattened(canvas))[:, None, None]
    on_paper = 255 * seen.colours * seen.coverage + paper * (1 - seen.coverage)
    shown = np.rint(on_paper.transpose(1, 2, 0)).astype(np.uint8)
    return SceneInput(coloured_input(coverage, colours), shown, seen.remark)


@torch.inference_mode()
def ask_about_many(
    model: SceneQuestion, pictures: Sequence[Tensor], text: str
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Ask one question about several pictures, each (4, 64, 64).

    Returns the answers and, of each look, (n_pictures, n_looks), the weight of the empty key, and that of all regions
    without ink.
    """
    together = torch.stack(list(pictures)).to(model.row.device)
    words = torch.tensor([numbers_of(question_words(text))], device=model.row.device).expand(len(pictures), -1)
    output = model(together, words)
    bare = F.max_pool2d(together[:, 0], ASK_SIDE // model.grid[0]).flatten(1) < MIN_INK
    answers = [ANSWERS[number] for number in output.logits.argmax(1).tolist()]
    paper = (output.weights[:, :, :-1] * bare[:, None]).sum(-1)
    return answers, to_array(output.weights[:, :, -1]), to_array(paper)


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
