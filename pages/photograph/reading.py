"""What a photograph is asked, and what comes of it; cached for all visitors."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from attention_core import AttentionTrace, Uniform
from attention_core.attention.edits import Edits
from attention_core.data.colours import name_colour
from attention_core.data.photographs import load_photographs
from attention_core.device import to_array
from attention_core.inference import photographs as photos
from attention_core.inference.soft_lookup import Encoder
from attention_core.models.photo_network import NAME as MODEL
from ui.computed import by_model, cached_computation, model_or_stop
from ui.edits import EditList
from ui.hosting.bounds import QUERY_LETTERS
from ui.meaning import meaning_encoder
from ui.picture_upload import UPLOADED
from ui.state import Field, between, one_of, plain_text, whole_number

NAME = "photograph"
PHOTOGRAPHS = load_photographs()
FIRST = FIRST_TEXT = "bee"
PHOTO = Field(NAME, "photo", FIRST, address="photo", parse=one_of((*PHOTOGRAPHS, UPLOADED)))
PICTURE = Field[bytes | None](NAME, "picture", None)
"""The visitor's own photograph, made harmless."""
TEXT = Field(NAME, "text", FIRST_TEXT, address="q", parse=lambda text: plain_text(text)[: QUERY_LETTERS.maximum])
REGION = Field(NAME, "region", None, address="region", parse=whole_number)
"""The region that asks in the word's place."""
VALUES: dict[photos.Value, str] = {"class": "What is it?", "colour": "What colour is it?", "patch": "Show it"}
VALUE = Field[photos.Value](NAME, "value", "class", address="value", parse=one_of(VALUES))
CHOOSINESS = {
    "hardly choosy": 16.0,
    "a little choosy": 4.0,
    "fairly choosy": 2.0,
    "as choosy as trained": 1.0,
    "only the best": 0.25,
}
"""How choosy a question is, and the temperature of that."""
CHOOSY = Field(NAME, "choosy", 3, address="choosy", parse=between(0, len(CHOOSINESS) - 1))
"""Which of them, from 0."""
SIDE = Field(NAME, "side", photos.SIDE, address="side", parse=one_of(photos.SIDES))
EDITS = EditList(NAME)
see = by_model(photos.encode_photograph)
ask_all = by_model(photos.ask_all)
first_glance = by_model(photos.first_glance)


class PhotoReading(NamedTuple):
    """What a question brings back from a photograph."""

    photo: photos.PhotoFeatures
    query: photos.PhotoQuery
    trace: AttentionTrace
    answer: np.ndarray  # probabilities (n_classes,), a colour (3,) in [0, 1], or a patch uint8 (side, side, 3)
    equal: np.ndarray  # the same were all weights equal
    best_score: float  # not divided by the temperature


class Question(NamedTuple):
    """What a photograph is asked; without a region it is a word."""

    text: str
    region: int | None = None
    value: photos.Value = "class"
    temperature: float = 1.0
    side: int = photos.SIDE


def current_question() -> Question:
    """Return what the visitor asks."""
    return Question(TEXT.value.strip() or FIRST_TEXT, REGION.value, VALUE.value, temperature(), SIDE.value)


def temperature() -> float:
    """Return what scores are divided by."""
    return [*CHOOSINESS.values()][CHOOSY.value]


def content_of_photo() -> bytes:
    """Return the file of the chosen photograph; of one's own that is not here, the first of those that come along."""
    if PHOTO.value == UPLOADED and PICTURE.value is not None:
        return PICTURE.value
    return PHOTOGRAPHS[FIRST if PHOTO.value == UPLOADED else PHOTO.value].content


def _encode(texts: Sequence[str]) -> torch.Tensor:
    """Return what texts mean; the sentence encoder is loaded only for what is not stored."""
    stored = photos.stored_meanings()
    vectors = [stored[text] if text in stored else meaning_encoder().embed([text])[0] for text in texts]
    return torch.stack(vectors)


MEANING = Encoder(_encode, "numbers of meaning", "", "", "", {})


def ask(content: bytes, question: Question, edits: Edits = ()) -> PhotoReading:
    """Return what a question brings back."""
    if question.region is None and question.text not in photos.stored_meanings():
        meaning_encoder()  # is loaded before this visitor's turn to compute, see docs/concurrency.md
    return _ask(content, question, edits)


@cached_computation(spinner="Looking at the photograph")
def _ask(content: bytes, question: Question, edits: Edits) -> PhotoReading:
    model, photo = model_or_stop(MODEL), see(MODEL, content, question.side)
    region = question.region if question.region is not None and question.region < len(photo.features) else None
    query = photos.word_query(model, question.text, MEANING) if region is None else photos.region_query(photo, region)
    inputs = model, photo, query, question.temperature, question.value
    trace, alike = (photos.ask_photograph(*inputs, edits=changes) for changes in (edits, (Uniform(),)))
    answer, equal = (_outcome(model, attention, question.value) for attention in (trace, alike))
    best_score = float(trace.replace(()).scores().max()) * question.temperature
    return PhotoReading(photo, query, trace, answer, equal, best_score)


@cached_computation(spinner="Looking at the photograph")
def median_score(content: bytes, side: int) -> float:
    """Return the median of the best scores that all names have on a photograph, not divided by the temperature."""
    return float(ask_all(MODEL, see(MODEL, content, side)).best_score.median())


def _outcome(model: Any, trace: AttentionTrace, value: photos.Value) -> np.ndarray:
    if value == "patch":
        return photos.show_mixture(trace)
    return to_array(photos.name_photograph(model, trace)[0] if value == "class" else trace.context()[0])


def learned_and_edited() -> tuple[PhotoReading, PhotoReading]:
    """Return what the visitor's question brings back, as learned and with the visitor's edits that fit."""
    content, question = content_of_photo(), current_question()
    learned = ask(content, question)
    edits = EDITS.fitting(learned.trace)
    return learned, ask(content, question, edits) if edits else learned


def likeliest(probabilities: np.ndarray, n: int = 3) -> list[tuple[str, float, str]]:
    """Return the likeliest classes, as a scene has answers."""
    names = photos.photo_names()
    return [(names[row], float(probabilities[row]), "") for row in np.argsort(-probabilities)[:n].tolist()]


def colour_answer(rgb: np.ndarray) -> list[tuple[str, None, str]]:
    """Return a colour, as a scene has answers."""
    return [(name_colour(torch.from_numpy(rgb)), None, "")]
