"""A drawing of coloured digits in words: "a red 3 left of a blue 7, and two green 1s".

Digits of one kind and one colour are told together. The single ones come first, from left to right and by twos, with
the relation between the two; groups follow.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from attention_core.data.colours import COLOURS
from attention_core.data.questions import DIGITS
from attention_core.data.scene_questions import SceneDigit

COUNTS = ("a", "two", "three", "four", "five", "six")
RELATIONS = ("left of", "above", "below")
AND, NOTHING = "and", "nothing"
WORDS = (*COUNTS, *COLOURS, *DIGITS, *(f"{digit}s" for digit in DIGITS), *RELATIONS, AND, NOTHING)
START, END, FIRST_WORD_ID = 0, 1, 2
"""Number 0 stands before the first word, 1 after the last, 2 is the first of WORDS."""
_WORD_IDS = {word: place + FIRST_WORD_ID for place, word in enumerate(WORDS)}
ASLANT = 0.5
"""A digit is left of another if it lies at least so far to its left, as a share of how far it lies above or below."""


class SceneDescription(NamedTuple):
    words: tuple[str, ...]  # of WORDS, the end left out
    # for each word the digits that it tells of, by their places in the drawing; none for "and" and relations
    digits: tuple[tuple[int, ...], ...]


class CaptionPart(NamedTuple):
    count_word: str  # one of COUNTS
    colour: str
    digit: str


def word_ids_of(words: Sequence[str]) -> list[int]:
    return [_WORD_IDS[word] for word in words]


def decode_caption(numbers: Sequence[int]) -> tuple[str, ...]:
    """Return the words of a model's numbers, up to its end."""
    caption = list(numbers)
    caption = caption[: caption.index(END)] if END in caption else caption
    return tuple(WORDS[number - FIRST_WORD_ID] for number in caption if number >= FIRST_WORD_ID)


def sentence(words: Sequence[str]) -> str:
    """Return words as a person writes them: a comma before "and", "an" before a vowel."""
    text = " ".join(words).replace(f" {AND}", f", {AND}")
    return re.sub(r"\ba (?=[aeiou])", "an ", text)


def describe_digits(items: Sequence[SceneDigit]) -> SceneDescription:
    """Describe the digits of a drawing, at most six."""
    if not items:
        return SceneDescription((NOTHING,), ((),))
    groups = _groups(items)
    singles = [digits[0] for digits in groups.values() if len(digits) == 1]
    words, digits_of_words = list[str](), list[tuple[int, ...]]()

    def add(text: str, digits: tuple[int, ...] = ()) -> None:
        words.append(text)
        digits_of_words.append(digits)

    for number, index in enumerate(singles):
        if number:
            add(relation(items[singles[number - 1]], items[index]) if number % 2 else AND)
        for word in ("a", items[index].colour, items[index].digit):
            add(word, (index,))
    for (colour, digit), digits in groups.items():
        if len(digits) > 1:
            if words:
                add(AND)
            for word in (COUNTS[len(digits) - 1], colour, f"{digit}s"):
                add(word, digits)
    return SceneDescription(tuple(words), tuple(digits_of_words))


def _groups(items: Sequence[SceneDigit]) -> dict[tuple[str, str], tuple[int, ...]]:
    """Return the indices of the digits by colour and kind, from left to right."""
    groups: dict[tuple[str, str], tuple[int, ...]] = {}
    for index in sorted(range(len(items)), key=lambda index: items[index].x):
        kind = items[index].colour, items[index].digit
        groups[kind] = (*groups.get(kind, ()), index)
    return groups


def relation(first: SceneDigit, second: SceneDigit) -> str:
    """Return how a digit lies to another one on its right."""
    right, down = second.x - first.x, second.y - first.y
    return "left of" if right >= abs(down) else "above" if down > 0 else "below"


def is_correct(words: Sequence[str], items: Sequence[SceneDigit]) -> bool:
    """Say whether a sentence is true of a drawing and leaves nothing out, in any order."""
    groups = _groups(items)
    if not items or tuple(words) == (NOTHING,):
        return not items and tuple(words) == (NOTHING,)
    described = list[tuple[str, str]]()
    before, between = None, ""
    try:
        for part, link in _caption_parts(words):
            kind = part.colour, part.digit.removesuffix("s")
            single = part.count_word == "a"
            if len(groups[kind]) != COUNTS.index(part.count_word) + 1 or single == part.digit.endswith("s"):
                return False
            if between in RELATIONS and not (before and single and _holds(between, before, items[groups[kind][0]])):
                return False
            described.append(kind)
            before, between = items[groups[kind][0]] if single else None, link
    except (KeyError, ValueError):
        return False
    return not between and sorted(described) == sorted(groups)


def digits_of_words(words: Sequence[str], items: Sequence[SceneDigit]) -> tuple[tuple[int, ...], ...]:
    groups, digits_of_words = _groups(items), list[tuple[int, ...]]()
    for part, link in _caption_parts(words) if items else ():
        digits_of_words += [groups[part.colour, part.digit.removesuffix("s")]] * 3 + [()] * bool(link)
    return tuple(digits_of_words)


def _caption_parts(words: Sequence[str]) -> Iterator[tuple[CaptionPart, str]]:
    """Yield each part of a sentence with the word that leads on from it, empty after the last, or ValueError."""
    for start in range(0, len(words), 4):
        count, colour, digit, *link = words[start : start + 4]
        if link and link[0] not in (*RELATIONS, AND):
            raise ValueError(f"{link[0]!r} does not lead on")
        yield CaptionPart(count, colour, digit), link[0] if link else ""


def _holds(between: str, first: SceneDigit, second: SceneDigit) -> bool:
    right, down = second.x - first.x, second.y - first.y
    along, across = {"left of": (right, down), "above": (down, right), "below": (-down, right)}[between]
    return along > 0 and along >= ASLANT * abs(across)
