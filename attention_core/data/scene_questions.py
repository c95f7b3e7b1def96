"""Random questions about composed drawings, with answers that nobody would dispute.

A question is asked only where every reading of it gives the same answer: "the 7" needs exactly one 7, "left of the
blue one" a digit on the left that is the nearest as the crow flies and along the line.
"""

import math
import random
from typing import NamedTuple

from attention_core.data.colours import COLOURS
from attention_core.data.questions import DIGITS, NOTHING, PLACES, RELATIONS, Question, QuestionKind, format_question
from attention_core.data.scenes import Drawings

CLEAR, UNCLEAR = 0.1, 0.05
"""Shares of the drawing's side: what is farther apart is clear to everybody, what is nearer is the same place."""
SHARE = {
    QuestionKind.DIGIT_AT: 1.5,
    QuestionKind.COLOUR_AT: 1.0,
    QuestionKind.DIGIT_OF_COLOUR: 1.2,
    QuestionKind.COLOUR_OF_DIGIT: 1.2,
    QuestionKind.COUNT: 2.2,
    QuestionKind.EXISTS: 1.6,
    QuestionKind.DIGIT_BESIDE: 2.2,
    QuestionKind.COLOUR_BESIDE: 1.2,
    QuestionKind.DIGIT_TWO_STEPS: 3.0,
    QuestionKind.COLOUR_TWO_STEPS: 1.8,
}
SELDOM = 0.04  # share of questions about what is not there, or is named itself, where such a question comes up

BESIDE = (QuestionKind.DIGIT_BESIDE, QuestionKind.COLOUR_BESIDE)
TWO_STEPS = (QuestionKind.DIGIT_TWO_STEPS, QuestionKind.COLOUR_TWO_STEPS)


class SceneDigit(NamedTuple):
    """A digit of a drawing: what it is, and where."""

    digit: str  # "0" to "9"
    colour: str  # one of COLOURS
    x: float  # of its middle, share of the drawing's width
    y: float  # of its middle, share of the drawing's height, downwards


class QuestionExample(NamedTuple):
    """A question about one drawing."""

    question: Question  # its meaning
    text: str  # its words
    answer: str  # one of ANSWERS
    relevant: tuple[int, ...]  # places of the digits that the answer is about, empty where it is about none
    # places of the digits that the question starts from: "the blue one" in "left of the blue one"
    anchors: tuple[int, ...] = ()
    # places of the digits on the way: "the one left of the blue one" in "above the one left of the blue one"
    between: tuple[int, ...] = ()

    @property
    def looks(self) -> tuple[tuple[int, ...], ...]:
        """Places of the digits that each of three looks is for.

        With fewer steps to go a look is with the answer sooner, and the others stay there.
        """
        return self.anchors or self.relevant, self.between or self.relevant, self.relevant


def items_of(drawings: Drawings, number: int) -> list[SceneDigit]:
    """Return the digits of one drawing, in the order of its boxes."""
    side = drawings.coverage.shape[-1]
    labels, colours = drawings.labels[number].tolist(), drawings.colours[number].tolist()
    return [
        SceneDigit(str(label), COLOURS[colour], (left + right) / 2 / side, (top + bottom) / 2 / side)
        for label, colour, (top, left, bottom, right) in zip(
            labels, colours, drawings.boxes[number].tolist(), strict=True
        )
        if label >= 0
    ]


def answer(question: Question, items: list[SceneDigit]) -> tuple[str, tuple[int, ...]] | None:
    """Return the answer and the places of the digits it is about, or None where people could differ."""
    matching = _matching(question, items)
    if question.kind is QuestionKind.COUNT:
        return str(len(matching)), matching
    if question.kind is QuestionKind.EXISTS:
        return ("yes" if matching else "no"), matching
    if question.place:
        digits = _at(question.place, items)
    elif question.relation:
        digits = _follow_relations(question, items)[-1]
    else:
        digits = matching if len(matching) < 2 else None
    if digits is None:
        return None
    if not digits:
        return NOTHING, ()
    item = items[digits[0]]
    return (item.colour if question.kind.startswith("colour") else item.digit), digits


def _follow_relations(question: Question, items: list[SceneDigit]) -> list[tuple[int, ...] | None]:
    """Return the place of the digit that is spoken of, and after each step of the question the one that it leads to.

    None where people could differ, and from there on; empty from where there is nothing.
    """
    matching = _matching(question, items)
    matches: list[tuple[int, ...] | None] = [matching if len(matching) == 1 else None]
    for relation in filter(None, (question.between, question.relation)):
        start = matches[-1]
        matches.append(_beside(relation, start[0], items) if start else start)
    return matches


def _matching(question: Question, items: list[SceneDigit]) -> tuple[int, ...]:
    return tuple(
        index
        for index, item in enumerate(items)
        if question.digit in (None, item.digit) and question.colour in (None, item.colour)
    )


def _at(location: str, items: list[SceneDigit]) -> tuple[int, ...] | None:
    if not items:
        return ()
    if location == "middle":
        distances = [math.hypot(item.x - 0.5, item.y - 0.5) for item in items]
        near = [index for index, distance in enumerate(distances) if distance < 0.14]
        return tuple(near) if len(near) < 2 and not any(0.14 <= d < 0.24 for d in distances) else None
    if " " not in location:
        sign = 1 if location in ("top", "left") else -1
        along = [sign * (item.y if location in ("top", "bottom") else item.x) for item in items]
        return _clearly_first(along)
    rows = [item.y if "top" in location else 1 - item.y for item in items]
    columns = [item.x if "left" in location else 1 - item.x for item in items]
    near = [index for index in range(len(items)) if max(rows[index], columns[index]) < 0.5 + UNCLEAR]
    if not near:
        return ()
    if len(near) == 1:
        return (near[0],) if max(rows[near[0]], columns[near[0]]) < 0.5 - UNCLEAR else None
    first = _clearly_first([rows[index] + columns[index] for index in near], 2 * CLEAR)
    return None if first is None else (near[first[0]],)


def _beside(relation: str, anchor: int, items: list[SceneDigit]) -> tuple[int, ...] | None:
    start = items[anchor]
    sign = 1 if relation in ("left of", "above") else -1
    candidates, along, across = [], [], []
    for index, item in enumerate(items):
        if index == anchor:
            continue
        ahead, aside = start.x - item.x, start.y - item.y
        if relation in ("above", "below"):
            ahead, aside = aside, ahead
        if UNCLEAR / 2 < sign * ahead < CLEAR and abs(aside) < 3 * CLEAR:
            return None
        if sign * ahead >= CLEAR:
            candidates.append(index)
            along.append(sign * ahead)
            across.append(abs(aside))
    if not candidates:
        return ()
    straight = [math.hypot(a, b) for a, b in zip(along, across, strict=True)]
    in_line = [a + 2 * b for a, b in zip(along, across, strict=True)]
    first = _clearly_first(straight, UNCLEAR)
    if first is None or first != _clearly_first(in_line, UNCLEAR) or along[first[0]] > min(along) + CLEAR:
        return None
    return (candidates[first[0]],)


def _clearly_first(along: list[float], by: float = CLEAR) -> tuple[int, ...] | None:
    """Return the place of the smallest number, if no other is nearly as small."""
    order = sorted(range(len(along)), key=along.__getitem__)
    clear = len(order) == 1 or along[order[1]] - along[order[0]] >= by
    return (order[0],) if clear else None


def random_question(
    items: list[SceneDigit], rng: random.Random, kind: QuestionKind | None = None
) -> QuestionExample | None:
    """Return a random question about a drawing, of a random kind if none is given, or None if no try gave one.

    A random kind is tried thirty times before another one is drawn.
    """
    for number in range(90):
        if number % 30 == 0:
            chosen = kind or rng.choices(list(SHARE), list(SHARE.values()))[0]
        question = _random_question(chosen, items, rng)
        true = answer(question, items)
        if true is None:
            continue
        path = [digits or () for digits in _follow_relations(question, items)] if question.relation else []
        if (true[0] == NOTHING or true[1] in path[:-1]) and rng.random() > SELDOM:
            continue
        return QuestionExample(question, format_question(question, rng), *true, *path[:-1])
    return None


def _random_question(kind: QuestionKind, items: list[SceneDigit], rng: random.Random) -> Question:
    item = rng.choice(items)
    digit, colour = rng.choice([(item.digit, None), (None, item.colour)])
    if kind in (QuestionKind.DIGIT_AT, QuestionKind.COLOUR_AT):
        return Question(kind, place=rng.choice(PLACES))
    if kind is QuestionKind.DIGIT_OF_COLOUR:
        return Question(kind, colour=item.colour if rng.random() < 0.9 else rng.choice(COLOURS))
    if kind is QuestionKind.COLOUR_OF_DIGIT:
        return Question(kind, digit=item.digit if rng.random() < 0.9 else rng.choice(DIGITS))
    if kind in (*BESIDE, *TWO_STEPS):
        digit, colour = rng.choice([(digit, colour), (digit, colour), (item.digit, item.colour)])
        between = rng.choice(RELATIONS) if kind in TWO_STEPS else None
        return Question(kind, relation=rng.choice(RELATIONS), digit=digit, colour=colour, between=between)
    if rng.random() < (0.5 if kind is QuestionKind.EXISTS else 0.15):  # something that is perhaps not there
        second = rng.choice(items)
        digit, colour = rng.choice(
            [(rng.choice(DIGITS), None), (None, rng.choice(COLOURS)), (second.digit, item.colour)]
        )
    elif kind is QuestionKind.COUNT and rng.random() < 0.3:
        digit = colour = None
    elif rng.random() < 0.12:
        digit, colour = item.digit, item.colour
    return Question(kind, digit=digit, colour=colour)


def random_question_or_count(items: list[SceneDigit], rng: random.Random) -> QuestionExample:
    """Return a random question about a drawing; where every try failed, how many digits there are."""
    question = Question(QuestionKind.COUNT)
    return random_question(items, rng) or QuestionExample(
        question, format_question(question, rng), str(len(items)), tuple(range(len(items)))
    )
