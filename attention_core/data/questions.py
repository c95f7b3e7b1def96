"""Questions about a drawing of coloured digits: what can be asked, and in which words the model is asked it."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, product

import torch
from torch import Tensor

from attention_core.data.colours import COLOURS

DIGITS = tuple("0123456789")
NOTHING = "nothing"
"""The answer when what is asked about is not there."""
ANSWERS = (*DIGITS, *COLOURS, "yes", "no", NOTHING)
PLACES = ("top left", "top right", "bottom left", "bottom right", "top", "bottom", "left", "right", "middle")
RELATIONS = ("left of", "right of", "above", "below")


class QuestionKind(StrEnum):
    """What a question asks for."""

    DIGIT_AT = "digit at a place"
    COLOUR_AT = "colour at a place"
    DIGIT_OF_COLOUR = "digit of a colour"
    COLOUR_OF_DIGIT = "colour of a digit"
    COUNT = "how many"
    EXISTS = "is there"
    DIGIT_BESIDE = "digit beside another"
    COLOUR_BESIDE = "colour beside another"


@dataclass(frozen=True)
class Question:
    """The meaning of a question."""

    kind: QuestionKind  # what is asked for
    place: str | None = None  # one of PLACES, for the kinds "at a place"
    relation: str | None = None  # one of RELATIONS, for the kinds "beside another"
    digit: str | None = None  # "0" to "9", the digit that is spoken of, or None
    colour: str | None = None  # one of COLOURS, the colour that is spoken of, or None


TEMPLATES: dict[QuestionKind, tuple[str, ...]] = {
    QuestionKind.DIGIT_AT: (
        "what digit is {at}",
        "which digit is {at}",
        "what is {at}",
        "what is the digit {at}",
        "which is the {most} digit",
        "what is the {most} digit",
        "what digit is {most}",
        "tell me the {most} digit",
        "read the digit {at}",
        "which one is {at}",
    ),
    QuestionKind.COLOUR_AT: (
        "what colour is the digit {at}",
        "which colour is {at}",
        "what colour is {at}",
        "what is the colour of the digit {at}",
        "what colour is the {most} digit",
        "what is the colour of the {most} digit",
        "which colour has the digit {at}",
        "what colour does the {most} digit have",
    ),
    QuestionKind.DIGIT_OF_COLOUR: (
        "which digit is {colour}",
        "what digit is {colour}",
        "what is the {colour} digit",
        "which is the {colour} digit",
        "what is the {colour} one",
        "which one is {colour}",
        "what {colour} digit is there",
        "which digit is drawn in {colour}",
        "name the {colour} digit",
        "what is {colour}",
    ),
    QuestionKind.COLOUR_OF_DIGIT: (
        "what colour is the {digit}",
        "which colour is the {digit}",
        "what is the colour of the {digit}",
        "what colour does the {digit} have",
        "which colour has the {digit}",
        "in what colour is the {digit}",
        "what colour is the digit {digit}",
        "tell me the colour of the {digit}",
    ),
    QuestionKind.COUNT: (
        "how many {things} are there",
        "how many {things}",
        "how many {things} do you see",
        "how many {things} can you see",
        "count the {things}",
        "how many {things} are in the drawing",
        "how many {things} are drawn",
        "how many of the digits are {colour}",
        "how many digits are {colour}",
        "how many are {colour}",
    ),
    QuestionKind.EXISTS: (
        "is there a {thing}",
        "is there any {thing}",
        "are there any {things}",
        "are there {things}",
        "do you see a {thing}",
        "can you see a {thing}",
        "is there a {thing} in the drawing",
        "does the drawing contain a {thing}",
        "is a {thing} there",
        "is any digit {colour}",
    ),
    QuestionKind.DIGIT_BESIDE: (
        "which digit is {relation} {anchor}",
        "what digit is {relation} {anchor}",
        "what is {relation} {anchor}",
        "what is the digit {relation} {anchor}",
        "which one is {relation} {anchor}",
        "what digit is directly {relation} {anchor}",
        "which digit stands {relation} {anchor}",
    ),
    QuestionKind.COLOUR_BESIDE: (
        "what colour is the digit {relation} {anchor}",
        "which colour is the digit {relation} {anchor}",
        "what is the colour of the digit {relation} {anchor}",
        "what colour is {relation} {anchor}",
        "what colour does the digit {relation} {anchor} have",
    ),
}
FILLERS = ("please", "now", "here", "hello", "so", "tell me", "in this picture", "in the picture", "on the canvas")
_WAYS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("top", "bottom"), ("at the {}", "on the {}", "at the very {}")),
    **dict.fromkeys(("left", "right"), ("at the {}", "on the {}", "on the {} side", "at the very {}", "furthest {}")),
    **dict.fromkeys(PLACES[:4], ("at the {}", "in the {}", "on the {}", "in the {} corner", "at the {} corner")),
    "middle": ("in the {}", "at the {}", "in the {} of the drawing"),
    **dict.fromkeys(("left of", "right of"), ("{}", "to the {}", "on the {}")),
    **dict.fromkeys(("above", "below"), ("{}",)),
}
"""Ways to write a place or a relation."""


def write(question: Question, rng: random.Random | None = None) -> str:
    """Return words for a question: the first template, or a random one with now and then a filler."""
    slots = _slots(question)
    unfilled = [f"{{{slot}}}" for slot, ways in slots.items() if not ways]
    templates = [one for one in TEMPLATES[question.kind] if not any(slot in one for slot in unfilled)]
    template = rng.choice(templates) if rng else templates[0]
    # Every slot draws, needed or not: other draws would change what a seed asks.
    chosen = {slot: rng.choice(ways) if rng and len(ways) > 1 else "".join(ways[:1]) for slot, ways in slots.items()}
    text = template.format(**chosen)
    if rng and rng.random() < 0.08:
        filler = rng.choice(FILLERS)
        text = f"{text} {filler}" if rng.random() < 0.5 else f"{filler} {text}"
    return text


def phrasings(question: Question) -> set[tuple[str, ...]]:
    """Return the words of every way in which a question can be written, without fillers."""
    slots = _slots(question)
    return {
        tuple(template.format(**dict(zip(named, ways, strict=True))).split())
        for template in TEMPLATES[question.kind]
        for named in [re.findall(r"{(\w+)}", template)]
        for ways in product(*(slots[slot] for slot in named))
    }


def _slots(question: Question) -> dict[str, list[str]]:
    """Return the ways to fill each slot of the templates; none where a template with it does not fit the question."""
    place, digit, colour = question.place, question.digit, question.colour
    thing = f"{colour or ''} {digit or 'digit'}".strip()
    return {
        "at": _ways(place),
        "relation": _ways(question.relation),
        "anchor": [f"the {digit}", f"the digit {digit}"] if digit else [f"the {colour} one", f"the {colour} digit"],
        "most": [f"{place}most"] if place in ("top", "bottom", "left", "right") else [],
        "colour": [colour] if colour and not digit else [],
        "digit": [digit] if digit else [],
        "thing": [thing],
        "things": [thing if digit else f"{thing}s"],
    }


def _ways(where: str | None) -> list[str]:
    return [way.format(where) for way in _WAYS[where]] if where else []


_PARTS = (*chain(*TEMPLATES.values(), *_WAYS.values()), *_WAYS, *FILLERS, *DIGITS, *COLOURS)
_ALSO = "one to the an from digits topmost bottommost leftmost rightmost"
WORDS = tuple(sorted(set(re.sub(r"{\w*}", "", " ".join((*_PARTS, _ALSO))).split())))
"""Every word that a written question can hold, in alphabetical order."""
UNKNOWN, FIRST_WORD = 1, 2
"""Number 0 pads, 1 is a word that is not known, 2 the first of WORDS."""
_NUMBER = {word: place + FIRST_WORD for place, word in enumerate(WORDS)}


def numbers_of(words: Sequence[str]) -> list[int]:
    """Return the model's number of each word."""
    return [_NUMBER.get(word, UNKNOWN) for word in words]


def padded(questions: Sequence[Sequence[int]]) -> Tensor:
    """Return word numbers as int64 (n, longest), padded with 0."""
    longest = max(len(numbers) for numbers in questions)
    return torch.tensor([[*numbers, *[0] * (longest - len(numbers))] for numbers in questions])
