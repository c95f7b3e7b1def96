"""Models of every kind as subjects of explanations, one of them a toy."""

import torch
from torch import nn

from attention_core.data.match3 import FIRST_NUMBERS
from attention_core.data.questions import word_ids_of
from attention_core.faithfulness import subjects
from attention_core.faithfulness.attribution import Subject
from attention_core.inference.sentiment import read_sentence
from attention_core.inference.translation import read_source, translate
from attention_core.models import load

TEXT = "The film is not bad, the music is warm."


def toy(n: int = 6, n_classes: int = 3) -> Subject:
    """Return one learned query over n keys that are values too, with a linear answer."""
    torch.manual_seed(3)
    keys, query, answer = torch.randn(n, 4), torch.randn(4), nn.Linear(4, n_classes).requires_grad_(False)
    unit_of = torch.arange(n)

    def predict(inputs, mask=None):
        scores = inputs @ query
        scores = scores if mask is None else scores.masked_fill(mask, -torch.inf)
        weights = torch.nan_to_num(scores.softmax(-1))
        return answer((weights[:, None] @ inputs)[:, 0]).softmax(-1)[:, None]

    weights = (keys @ query).softmax(-1)[None, None]
    return Subject(
        inputs=keys,
        baseline=torch.zeros(1, 4),
        unit_of=unit_of,
        predict=predict,
        erase=lambda erased: predict(keys.expand(len(erased), -1, -1), erased),
        weights={"attention": weights},
        reweigh=lambda weights_by_name: answer((weights_by_name["attention"] @ keys)[:, 0, 0]).softmax(-1)[:, None],
    )


def digit(side: int) -> torch.Tensor:
    picture = torch.zeros(side, side)
    picture[side // 4 : 3 * side // 4, side // 2 - 1 : side // 2 + 2] = 1
    return picture


def picture_of_a_digit() -> torch.Tensor:
    picture = torch.zeros(4, 64, 64)
    picture[:2, 20:44, 30:34] = 1
    return picture


def subject_of(name: str) -> Subject:
    model = load(name, "cpu")
    if name.startswith("pixel"):
        return subjects.pixel_subject(model, digit(28))
    if name == "feature-mask":
        return subjects.mask_subject(model, digit(60))
    if name == "digit-reader":
        picture = torch.zeros(48, 192)
        picture[10:38, 40:44] = picture[10:38, 100:104] = 1
        return subjects.reading_subject(model, picture)
    if name == "scene-question":
        return subjects.question_subject(model, picture_of_a_digit(), word_ids_of(["what", "is", "red"]))
    if name == "scene-caption":
        return subjects.caption_subject(model, picture_of_a_digit())
    if name == "language-recurrent":
        return subjects.next_piece_subject(model, torch.tensor([0, 12, 40, 7]))
    if name.startswith("match3"):
        return subjects.match3_subject(model, FIRST_NUMBERS, 1)
    if name.startswith("translator"):
        source = read_source("The red car is old.")
        target = torch.tensor(translate(model, source).ids)
        return subjects.translation_subject(model, source.ids, target, source.word_of, source.words)
    return subjects.sentence_subject(model, read_sentence(TEXT).words)


MODELS = [
    "pixel-notes",
    "pixel-classifier",
    "feature-mask",
    "digit-reader",
    "scene-question",
    "scene-caption",
    "language-recurrent",
    "sentence-attention",
    "sentence-two-phase",
    "match3-pairwise",
    "match3-simplicial",
    "translator-additive",
    "translator-transformer",
]
