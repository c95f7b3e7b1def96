"""Questions about a drawing of coloured digits: what can be asked, in which words, and what is true.

A question is words for the model and a meaning for the checker. The grammar reads a typed question into its meaning,
or says that it cannot; the composer writes random questions with their answers about composed drawings.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.data.colours import COLOURS

MOST_CHARACTERS = 200
MOST_WORDS = 20
DIGITS = tuple(str(digit) for digit in range(10))
NOTHING = "nothing"
"""The answer when what is asked about is not there."""
ANSWERS = (*DIGITS, *COLOURS, "yes", "no", NOTHING)
PLACES = (
    "top left",
    "top right",
    "bottom left",
    "bottom right",
    "top",
    "bottom",
    "left",
    "right",
    "middle",
)
RELATIONS = ("left of", "right of", "above", "below")
NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class Kind(StrEnum):
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
    """The meaning of a question.

    Attributes:
        kind: what is asked for.
        place: one of PLACES, for the kinds "at a place".
        relation: one of RELATIONS, for the kinds "beside another".
        digit: "0" to "9", the digit that is spoken of, or None.
        colour: one of COLOURS, the colour that is spoken of, or None.
    """

    kind: Kind
    place: str | None = None
    relation: str | None = None
    digit: str | None = None
    colour: str | None = None


class QuestionError(ValueError):
    """A question outside the grammar; the message says kindly why."""


# Words. -------------------------------------------------------------------------------------------------------------

SAME = {
    "color": "colour",
    "colors": "colour",
    "colours": "colour",
    "coloured": "colour",
    "colored": "colour",
    "gray": "grey",
    "violet": "purple",
    "upper": "top",
    "uppermost": "topmost",
    "highest": "topmost",
    "lower": "bottom",
    "lowest": "bottommost",
    "lowermost": "bottommost",
    "center": "middle",
    "centre": "middle",
    "central": "middle",
    "number": "digit",
    "numbers": "digits",
    "numeral": "digit",
    "numerals": "digits",
    "figure": "digit",
    "figures": "digits",
    "whats": "what is",
    "what's": "what is",
    "which's": "which is",
    "there's": "there is",
    "isn't": "is not",
    "beneath": "below",
    "underneath": "below",
    "under": "below",
    "over": "above",
    "zeros": "zeroes",
    "sixes": "sixes",
    "reds": "red digits",
    "oranges": "orange digits",
    "yellows": "yellow digits",
    "greens": "green digits",
    "blues": "blue digits",
    "purples": "purple digits",
    "pinks": "pink digits",
    "browns": "brown digits",
    "greys": "grey digits",
    "grays": "grey digits",
    "blacks": "black digits",
    "whites": "white digits",
    "scarlet": "red",
    "crimson": "red",
    "lilac": "purple",
    "navy": "blue",
}
"""Spellings and synonyms that become one word."""
PLURALS = {f"{word}s": digit for digit, word in enumerate(NUMBER_WORDS) if word != "one"} | {"zeroes": 0, "sixes": 6}
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|[0-9]+|[^\sa-z0-9]")


def words_of(text: str) -> list[str]:
    """Return a question as the words that the model knows it by: lower case, no punctuation, one word per meaning.

    Raises:
        QuestionError: nothing to read, or more than can be read.
    """
    if not text.strip():
        raise QuestionError("Ask something, such as: what colour is the 7?")
    if len(text) > MOST_CHARACTERS:
        raise QuestionError(
            f"This question has {len(text):,} characters. Ask in {MOST_CHARACTERS} or fewer; one thing at a time."
        )
    words: list[str] = []
    plain = re.sub(r"\b([0-9])\s*'?\s*s\b", r"\1", text.lower().replace("’", "'"))
    plain = re.sub(r"-hand\b|\bhand\b", " ", plain).replace("-", " ")
    for token in _TOKEN.findall(plain):
        bare = token if token in SAME else token.removesuffix("'s")
        for word in SAME.get(bare, bare).split():
            if word in PLURALS:
                words.append(str(PLURALS[word]))
            elif word in NUMBER_WORDS and word != "one":
                words.append(str(NUMBER_WORDS.index(word)))
            elif word[0].isalnum():
                words.append(word)
    words = _ones(words)
    if not words:
        raise QuestionError("That has no words. Ask something, such as: how many red digits are there?")
    if len(words) > MOST_WORDS:
        raise QuestionError(f"This question has {len(words)} words. Ask in {MOST_WORDS} or fewer; one thing at a time.")
    return words


def _ones(words: list[str]) -> list[str]:
    """Return the words with "one" as the digit 1 where it is one, and as "one" where it stands for another digit."""
    found = []
    for place, word in enumerate(words):
        before, last = words[place - 1] if place else "", place == len(words) - 1
        if word == "one" and (before in ("a", "digit", "any") or (before == "the" and last)):
            word = "1"
        elif word == "ones":
            word = "digits" if before in COLOURS else "1"
        found.append(word)
    return found


def parse(text: str) -> Question:
    """Return the meaning of a typed question.

    Raises:
        QuestionError: it cannot be understood; the message says what is missing.
    """
    words = words_of(text)
    if not any(word in _KNOWN for word in words):
        raise QuestionError(FEW_WORDS)
    for word in words:
        if word in _BEYOND:
            raise QuestionError(_BEYOND[word])
    asks = _asked_for(words)
    relation, rest = _relation(words)
    place = None if relation else _place(words)
    spoken_of = rest if relation else words
    colour, digit = _spoken_of(spoken_of, asks)
    if asks == "count":
        _refuse(place or relation, "I can count all digits, or those of one colour or one kind, on the whole drawing.")
        _refuse("colour" in words and not (colour or digit), "I can count digits, but not colours.")
        return Question(Kind.COUNT, digit=digit, colour=colour)
    if asks == "exists":
        _refuse(place or relation, "I can say whether something is there, but not whether it is at a place.")
        _refuse(not (colour or digit), "Is there what? Name a digit or a colour.")
        return Question(Kind.EXISTS, digit=digit, colour=colour)
    if relation:
        _refuse(not (colour or digit), f"{relation.capitalize()} which one? Name a digit or a colour.")
        kind = Kind.COLOUR_BESIDE if asks == "colour" else Kind.DIGIT_BESIDE
        return Question(kind, relation=relation, digit=digit, colour=colour)
    if place:
        _refuse(bool(colour or digit), "Ask by place or by colour, not by both.")
        return Question(Kind.COLOUR_AT if asks == "colour" else Kind.DIGIT_AT, place=place)
    if asks == "colour" and not (colour and digit is None):  # "which digit has the colour blue" asks for the digit
        _refuse(digit is None, "The colour of which digit? Name it, or say where it is.")
        return Question(Kind.COLOUR_OF_DIGIT, digit=digit)
    if asks in ("digit", "colour"):
        _refuse("corner" in words, "Which corner? Top left, top right, bottom left or bottom right.")
        _refuse(digit and not colour, "You named the digit already. Ask for its colour, or what is beside it.")
        _refuse(colour is None, "Which digit do you mean? Say its colour or where it is.")
        return Question(Kind.DIGIT_OF_COLOUR, colour=colour)
    _refuse(sum(word in _NUMBER for word in words) < 0.7 * len(words), FEW_WORDS)
    raise QuestionError("I do not see what is asked.")


FEW_WORDS = "I know a few English words only, about digits, their colours and their places."
_BEYOND = {
    **dict.fromkeys(("not", "no", "without", "except"), "I cannot deal with “not”. Ask what is there."),
    **dict.fromkeys(("where",), "I cannot say where something is. Ask what is at a place, or beside a digit."),
    **dict.fromkeys(
        ("beside", "next", "near", "nearest", "between", "neighbour"),
        "Say which side: left of, right of, above, below.",
    ),
    **dict.fromkeys(("more", "than", "fewer", "most", "only"), "I cannot compare numbers. Ask how many there are."),
    **dict.fromkeys(
        ("sum", "add", "plus", "times", "minus", "largest", "biggest", "smallest", "even", "odd"),
        "I cannot calculate, nor compare sizes. Ask for a digit, its colour, or how many there are.",
    ),
    **{
        word: f"I do not know the colour {word}. I know {', '.join(COLOURS[:-1])} and {COLOURS[-1]}."
        for word in ("cyan", "turquoise", "teal", "magenta", "gold", "golden", "silver", "beige", "maroon", "olive")
    },
}
"""Words of questions that nobody taught the model, and what to say about them."""


def _spoken_of(words: list[str], asks: str | None) -> tuple[str | None, str | None]:
    """Return the colour and the digit that are named, None where none is."""
    colours, digits = sorted({word for word in words if word in COLOURS}), sorted(set(_digits(words)))
    _refuse(asks == "exists" and len(digits) > 1, "Ask how many there are, or whether there is any.")
    _refuse(max(len(colours), len(digits)) > 1, "Ask about one digit and one colour at a time.")
    return next(iter(colours), None), next(iter(digits), None)


def _refuse(condition: object, why: str) -> None:
    if condition:
        raise QuestionError(why)


def _asked_for(words: list[str]) -> str | None:
    text = " ".join(words)
    if "how many" in text or "count" in words or "digit of" in text or "digits of" in text or "amount" in words:
        return "count"
    if "what" not in words and "which" not in words:
        if re.search(r"\b(is|are) (there|any)\b|\b(do|can) (you|we) see\b|\bdo we have\b|\bany\b|^there is\b", text):
            return "exists"
        if re.search(r"\b(does|do) (the|it|this)\b|\bcontains?\b|\bexists?\b|\bis an? .* there\b", text):
            return "exists"
        if re.search(r"\b(find|draw|drew|drawn|show)\b", text) and "colour" not in words:
            return "exists"
        if words[0] in ("is", "are") and "colour" not in words:  # is the 7 red: is there a red 7
            return "exists"
    if "colour" in words:
        return "colour"
    if {"what", "which", "read", "name"} & set(words) or "digit" in words:
        return "digit"
    return None


def _relation(words: list[str]) -> tuple[str | None, list[str]]:
    """Return the relation and the words after it, which name the digit that it starts from."""
    for place, word in enumerate(words):
        after = words[place + 1 : place + 2]
        if after == ["side"]:
            after = words[place + 2 : place + 3]
        rest = words[place + 2 :]
        whole = {"drawing", "picture", "canvas"} & set(rest) and not {*COLOURS, *DIGITS} & set(rest)
        if word in ("left", "right") and after in (["of"], ["from"]) and not whole:
            return f"{word} of", rest
        if word in ("above", "below"):
            return word, words[place + 1 :]
        if word == "on" and after == ["top"] and words[place + 2 : place + 3] == ["of"] and not whole:
            return "above", words[place + 3 :]
    return None, words


def _place(words: list[str]) -> str | None:
    vertical = next(("top" if "top" in w else "bottom" for w in words if w in _VERTICAL), None)
    horizontal = next(("left" if "left" in w else "right" for w in words if w in _HORIZONTAL), None)
    if vertical and horizontal:
        return f"{vertical} {horizontal}"
    return vertical or horizontal or ("middle" if "middle" in words else None)


def _digits(words: list[str]) -> list[str]:
    for word in words:
        if word.isdecimal() and word not in DIGITS:
            raise QuestionError(f"{word} is not a digit. I know 0 to 9.")
    return [word for word in words if word in DIGITS]


_VERTICAL = ("top", "topmost", "bottom", "bottommost")
_HORIZONTAL = ("left", "leftmost", "right", "rightmost")

# Writing. -----------------------------------------------------------------------------------------------------------

TEMPLATES: dict[Kind, tuple[str, ...]] = {
    Kind.DIGIT_AT: (
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
    Kind.COLOUR_AT: (
        "what colour is the digit {at}",
        "which colour is {at}",
        "what colour is {at}",
        "what is the colour of the digit {at}",
        "what colour is the {most} digit",
        "what is the colour of the {most} digit",
        "which colour has the digit {at}",
        "what colour does the {most} digit have",
    ),
    Kind.DIGIT_OF_COLOUR: (
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
    Kind.COLOUR_OF_DIGIT: (
        "what colour is the {digit}",
        "which colour is the {digit}",
        "what is the colour of the {digit}",
        "what colour does the {digit} have",
        "which colour has the {digit}",
        "in what colour is the {digit}",
        "what colour is the digit {digit}",
        "tell me the colour of the {digit}",
    ),
    Kind.COUNT: (
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
    Kind.EXISTS: (
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
    Kind.DIGIT_BESIDE: (
        "which digit is {relation} {anchor}",
        "what digit is {relation} {anchor}",
        "what is {relation} {anchor}",
        "what is the digit {relation} {anchor}",
        "which one is {relation} {anchor}",
        "what digit is directly {relation} {anchor}",
        "which digit stands {relation} {anchor}",
    ),
    Kind.COLOUR_BESIDE: (
        "what colour is the digit {relation} {anchor}",
        "which colour is the digit {relation} {anchor}",
        "what is the colour of the digit {relation} {anchor}",
        "what colour is {relation} {anchor}",
        "what colour does the digit {relation} {anchor} have",
    ),
}
FILLERS = ("please", "now", "here", "hello", "so", "tell me", "in this picture", "in the picture", "on the canvas")


def write(question: Question, rng: random.Random | None = None) -> str:
    """Return words for a question: the first template, or a random one with now and then a filler."""
    templates = _templates(question)
    template = rng.choice(templates) if rng else templates[0]
    at, relation = _at(question.place, rng), _relation_words(question.relation, rng)
    text = _filled(template, question, at, relation, _anchor(question, rng))
    if rng and rng.random() < 0.08:
        filler = rng.choice(FILLERS)
        text = f"{text} {filler}" if rng.random() < 0.5 else f"{filler} {text}"
    return text


def phrasings(question: Question) -> set[tuple[str, ...]]:
    """Return the words of every way in which a question can be written, without fillers."""
    ways = product(
        _templates(question), _at_forms(question.place), _relation_forms(question.relation), _anchor_forms(question)
    )
    return {tuple(words_of(_filled(template, question, *forms))) for template, *forms in ways}


def _templates(question: Question) -> tuple[str, ...]:
    return tuple(one for one in TEMPLATES[question.kind] if _fits(one, question))


def _filled(template: str, question: Question, at: str, relation: str, anchor: str) -> str:
    return template.format(
        at=at,
        most=_most(question.place),
        colour=question.colour,
        digit=question.digit,
        thing=_thing(question, plural=False),
        things=_thing(question, plural=True),
        relation=relation,
        anchor=anchor,
    )


def _fits(template: str, question: Question) -> bool:
    if "{most}" in template:
        return question.place in ("top", "bottom", "left", "right")
    if "{colour}" in template:
        return question.colour is not None and question.digit is None
    return True


def _at(place: str | None, rng: random.Random | None) -> str:
    forms = _at_forms(place)
    return rng.choice(forms) if rng and place else forms[0]


def _at_forms(place: str | None) -> list[str]:
    if place is None:
        return [""]
    forms = ["at the {}", "in the {}", "on the {}", "in the {} corner", "at the {} corner"]
    if place == "middle":
        forms = ["in the {}", "at the {}", "in the {} of the drawing"]
    elif " " not in place:
        forms = ["at the {}", "on the {}", "on the {} side", "at the very {}", "furthest {}"]
        if place in ("top", "bottom"):
            forms = forms[:2] + forms[3:4]
    return [form.format(place) for form in forms]


def _most(place: str | None) -> str:
    return f"{place}most"


def _thing(question: Question, plural: bool) -> str:
    digit = question.digit
    if digit is None:
        return f"{question.colour or ''} digit{'s' if plural else ''}".strip()
    return f"{question.colour or ''} {digit}".strip()


def _relation_words(relation: str | None, rng: random.Random | None) -> str:
    forms = _relation_forms(relation)
    return rng.choice(forms) if rng and len(forms) > 1 else forms[0]


def _relation_forms(relation: str | None) -> list[str]:
    if relation in ("left of", "right of"):
        return [relation, f"to the {relation}", f"on the {relation}"]
    return [relation or ""]


def _anchor(question: Question, rng: random.Random | None) -> str:
    forms = _anchor_forms(question)
    return rng.choice(forms) if rng else forms[0]


def _anchor_forms(question: Question) -> list[str]:
    if question.digit:
        return [f"the {question.digit}", f"the digit {question.digit}"]
    return [f"the {question.colour} one", f"the {question.colour} digit"]


def _vocabulary() -> tuple[str, ...]:
    """Return every word that a written question can hold, in alphabetical order."""
    words: set[str] = set(DIGITS) | set(COLOURS) | {"one"}
    for templates in TEMPLATES.values():
        words |= {word for one in templates for word in re.sub(r"\{\w+\}", " ", one).split()}
    for place in PLACES:
        words |= set(place.split()) | {f"{place}most"} - {f"{p}most" for p in PLACES if " " in p or p == "middle"}
    words |= {"at", "in", "on", "the", "an", "very", "side", "corner", "furthest", "of", "drawing", "to", "from"}
    words |= {"digit", "digits", "above", "below"}
    words |= {word for filler in FILLERS for word in filler.split()}
    return tuple(sorted(words))


WORDS = _vocabulary()
UNKNOWN, FIRST_WORD = 1, 2
"""Number 0 pads, 1 is a word that is not known, 2 the first of WORDS."""
_NUMBER = {word: place + FIRST_WORD for place, word in enumerate(WORDS)}
_KNOWN = set(WORDS) - set(FILLERS) - {"the", "in", "on", "me", "at", "a", "of", "so", "to", "is", "this", "now", "here"}


def numbers_of(words: Sequence[str]) -> list[int]:
    """Return the model's number of each word."""
    return [_NUMBER.get(word, UNKNOWN) for word in words]


class Reading(NamedTuple):
    """A typed question as the model gets it.

    Attributes:
        question: its meaning.
        words: what the model reads.
        rephrased: whether these are other words than the typed ones, which the model has not met in this order.
    """

    question: Question
    words: list[str]
    rephrased: bool


def read_question(text: str) -> Reading:
    """Return the meaning of a typed question and words for it that the model was trained on.

    Raises:
        QuestionError: it cannot be understood.
    """
    question, typed = parse(text), words_of(text)
    known = phrasings(question)
    fillers = [(), *(tuple(words_of(filler)) for filler in FILLERS)]
    bare = {tuple(typed[: len(typed) - len(one)]) for one in fillers if tuple(typed[len(typed) - len(one) :]) == one}
    bare |= {tuple(typed[len(one) :]) for one in fillers if tuple(typed[: len(one)]) == one}
    if bare & known:
        return Reading(question, typed, False)
    return Reading(question, words_of(write(question)), True)


def answer_word(text: str) -> str:
    """Return an answer as it stands in ANSWERS: "Three" -> "3", "gray" -> "grey"; other words stay as they are."""
    word = text.strip().lower().rstrip(".!")
    if word in NUMBER_WORDS:
        return str(NUMBER_WORDS.index(word))
    return {"true": "yes", "false": "no", "none": NOTHING}.get(word, SAME.get(word, word))


def padded(questions: Sequence[Sequence[int]]) -> Tensor:
    """Return word numbers as int64 (n, longest), padded with 0."""
    longest = max(len(one) for one in questions)
    return torch.tensor([[*one, *[0] * (longest - len(one))] for one in questions])
