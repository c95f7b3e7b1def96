"""Questions about a drawing of coloured digits: their meanings, their wordings, and the parsing of typed ones."""

import random
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, product
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from attention_core.bounds.limits import QUESTION_LETTERS
from attention_core.data.colours import COLOURS
from attention_core.files import read_toml_beside

DIGITS = tuple("0123456789")
NOTHING = "nothing"
"""The answer when what is asked about is not there."""
ANSWERS = (*DIGITS, *COLOURS, "yes", "no", NOTHING)
PLACES = ("top left", "top right", "bottom left", "bottom right", "top", "bottom", "left", "right", "middle")
RELATIONS = ("left of", "right of", "above", "below")


def answer_in_words(answer: str) -> str:
    """Return one of ANSWERS in the words that a visitor reads."""
    return "no such digit" if answer == NOTHING else answer


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
    DIGIT_TWO_STEPS = "digit two steps away"
    COLOUR_TWO_STEPS = "colour two steps away"


@dataclass(frozen=True)
class Question:
    """The meaning of a question."""

    kind: QuestionKind  # what is asked for
    place: str | None = None  # one of PLACES, for the kinds "at a place"
    relation: str | None = None  # one of RELATIONS, for the kinds "beside another" and "two steps away"
    digit: str | None = None  # "0" to "9", the digit that the question names, or None
    colour: str | None = None  # one of COLOURS, the colour that the question names, or None
    # one of RELATIONS, for "two steps away": where the digit in between lies from the named one, such as "left of" in
    # "above the one left of the blue one"
    between: str | None = None

    @property
    def n_looks(self) -> int:
        """Number of looks that lead to the answer; a model with a look more repeats the last."""
        return 3 if self.between else 2


_TABLES = read_toml_beside(__file__)
TEMPLATES: dict[QuestionKind, Sequence[str]] = {
    QuestionKind(kind): templates for kind, templates in _TABLES["templates"].items()
}
TEMPLATES |= {  # their {anchor} is described, not named: "the one left of the blue one"
    QuestionKind.DIGIT_TWO_STEPS: TEMPLATES[QuestionKind.DIGIT_BESIDE],
    QuestionKind.COLOUR_TWO_STEPS: TEMPLATES[QuestionKind.COLOUR_BESIDE],
}
FILLERS: Sequence[str] = _TABLES["fillers"]
_PHRASES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("top", "bottom"), ("at the {}", "on the {}", "at the very {}")),
    **dict.fromkeys(("left", "right"), ("at the {}", "on the {}", "on the {} side", "at the very {}", "furthest {}")),
    **dict.fromkeys(PLACES[:4], ("at the {}", "in the {}", "on the {}", "in the {} corner", "at the {} corner")),
    "middle": ("in the {}", "at the {}", "in the {} of the drawing"),
    **dict.fromkeys(("left of", "right of"), ("{}", "to the {}", "on the {}")),
    **dict.fromkeys(("above", "below"), ("{}",)),
}
"""Phrases for a place or a relation."""
FILLER_SHARE = 0.08  # of questions at random


def format_question(question: Question, rng: random.Random | None = None) -> str:
    """Return a question as a text: the first template, or with rng a random one and sometimes a filler."""
    slots = _slots(question)
    unfilled = [f"{{{slot}}}" for slot, choices in slots.items() if not choices]
    templates = [template for template in TEMPLATES[question.kind] if not any(slot in template for slot in unfilled)]
    template = rng.choice(templates) if rng else templates[0]
    # Something is chosen for every slot, also for those that the template lacks: seeds stand for these questions.
    chosen = {
        slot: rng.choice(choices) if rng and len(choices) > 1 else "".join(choices[:1])
        for slot, choices in slots.items()
    }
    text = template.format(**chosen)
    if rng and rng.random() < FILLER_SHARE:
        filler = rng.choice(FILLERS)
        text = f"{text} {filler}" if rng.random() < 0.5 else f"{filler} {text}"
    return text


def phrasings(question: Question) -> set[tuple[str, ...]]:
    """Return every wording of a question without fillers, each as its words."""
    slots, wordings = _slots(question), set()
    for template in TEMPLATES[question.kind]:
        names = re.findall(r"{(\w+)}", template)
        for fillings in product(*(slots[name] for name in names)):
            wordings.add(tuple(template.format(**dict(zip(names, fillings, strict=True))).split()))
    return wordings


def _slots(question: Question) -> dict[str, list[str]]:
    """Return the texts that may fill each slot of the templates; none where the question has nothing for a slot."""
    place, digit, colour = question.place, question.digit, question.colour
    thing = f"{colour or ''} {digit or 'digit'}".strip()
    return {
        "at": _phrases(place),
        "relation": _phrases(question.relation),
        "anchor": _anchors(question),
        "most": [f"{place}most"] if place in ("top", "bottom", "left", "right") else [],
        "colour": [colour] if colour and not digit else [],
        "digit": [digit] if digit else [],
        "thing": [thing],
        "things": [thing if digit else f"{thing}s"],
    }


def _anchors(question: Question) -> list[str]:
    """Return the phrases for the digit from which the last step of a question starts."""
    digit, colour = question.digit, question.colour
    if digit:
        named = [f"the {colour} {digit}"] if colour else [f"the {digit}", f"the digit {digit}"]
    else:
        named = [f"the {colour} one", f"the {colour} digit"]
    if not question.between:
        return named
    combinations = product(("one", "digit"), _phrases(question.between), named)
    return [f"the {noun} {phrase} {name}" for noun, phrase, name in combinations]


def _phrases(name: str | None) -> list[str]:
    return [phrase.format(name) for phrase in _PHRASES[name]] if name else []


_TEXTS = (*chain(*TEMPLATES.values(), *_PHRASES.values()), *_PHRASES, *FILLERS, *DIGITS, *COLOURS)
_EXTRA_WORDS = "one to the an from digits topmost bottommost leftmost rightmost"
WORDS = tuple(sorted(set(re.sub(r"{\w*}", "", " ".join((*_TEXTS, _EXTRA_WORDS))).split())))
"""The vocabulary of questions, in alphabetical order."""
UNKNOWN, FIRST_WORD_ID = 1, 2
"""Ids of words: 0 pads, 1 is a word that is not among WORDS, 2 the first of them."""
_WORD_IDS = {word: index + FIRST_WORD_ID for index, word in enumerate(WORDS)}


def word_ids_of(words: Sequence[str]) -> list[int]:
    """Return the id that the model reads for each word."""
    return [_WORD_IDS.get(word, UNKNOWN) for word in words]


def pad_questions(questions: Sequence[Sequence[int]]) -> Tensor:
    """Return the ids of words of questions as int64 (n, longest), padded with 0."""
    return pad_sequence([torch.tensor(list(word_ids)) for word_ids in questions], batch_first=True)


MAX_WORDS = 24
MIN_VOCABULARY_SHARE = 0.7  # of a question's words among WORDS; below it the question may not be English
NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SYNONYMS = {f"{colour}s": f"{colour} digits" for colour in COLOURS}
_SYNONYMS |= {spelling: word for word, spellings in _TABLES["spellings"].items() for spelling in spellings.split()}
_REPLACEMENTS = _SYNONYMS | {"zeroes": "0", "sixes": "6"}
_REPLACEMENTS |= {
    form: digit
    for word, digit in zip(NUMBER_WORDS, DIGITS, strict=True)
    if word != "one"  # it may stand for another digit, as in "the red one"
    for form in (word, f"{word}s")
}
_CONTENT_WORDS = set(WORDS) - {*FILLERS, "the", "in", "on", "me", "at", "a", "of", "to", "is", "this"}
NAMES_AND_CONJUNCTIONS = {*COLOURS, *DIGITS, "and", "or"}
SCENE_WORDS = {"shirt", "person", "man", "woman", "boy", "girl", "player", "ball", "kicking"}
NO_SCENE = (
    "There are no people and no shirts here, only coloured digits. But “the shirt of the person kicking the ball” is "
    "the same two-step question as “the digit above the one left of the blue one”: from the ball to the person, and on "
    "to the shirt."
)
FOUR_LOOKS = "That takes four looks, and I have three: for a digit that you name, one beside it, and one beside that."
SINGLE_NAME = "Name one digit only, the last, as in “above the one left of the blue one”."
PLACE_AND_COLOUR = "Ask by place or by colour, not by both."
NOTHING_BESIDES = "I cannot look for “{}” and for what is beside a digit at once: leave “{}” out."
FEW_WORDS = "I understand English questions only, and few words: digits, their colours and their places."
KNOWN_COLOURS = f"{', '.join(COLOURS[:-1])} and {COLOURS[-1]}"
_REFUSED_WORDS = {word: why for why, words in _TABLES["refusals"].items() for word in words.split()}
"""By word of a question for which the model was not trained: the message that refuses it."""
_REQUESTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (QuestionKind.COUNT, "how many|digits? of| count | amount ", ()),
    (
        QuestionKind.EXISTS,
        r"\b((is|are) (there|any)|(do|can) (you|we) see|do we have|any|(does|do) (the|it|this)|contains?|exists?"
        r"|is an? .* there)\b|^ there is\b",
        ("what", "which"),
    ),
    (QuestionKind.EXISTS, r"\b(find|draw|drew|drawn|show)\b|^ (is|are) ", ("what", "which", "colour")),  # is the 7 red
    ("colour", " colour ", ()),
    ("digit", " (what|which|read|name|digit) ", ()),
)
"""What is asked for, the pattern that shows it, and words that rule it out; the first row that fits decides."""


class QuestionError(ValueError):
    """A question outside the grammar; the message says kindly why."""


def question_words(text: str) -> list[str]:
    """Return the words of a question, normalised: lower case, no punctuation, one word per meaning.

    QuestionError for no words, or too many letters or words.
    """
    _refuse(not text.strip(), "Ask something, such as: what colour is the 7?")
    _refuse(
        len(text) > QUESTION_LETTERS.maximum,
        f"This question has {len(text):,} characters. Ask in {QUESTION_LETTERS.maximum} or fewer; one thing at a time.",
    )
    letters = unicodedata.normalize("NFKD", text.lower().replace("’", "'"))
    unmarked = "".join(letter for letter in letters if unicodedata.category(letter)[0] != "M")  # an accent ends no word
    singular = re.sub(r"\b([0-9])\s*'?\s*s\b", r"\1", unmarked)  # "7s", "7's" -> "7"
    tokens = re.findall(r"[^\W\d_]+(?:'[a-z]+)?|[0-9]+|[^\W_]", re.sub(r"\bhand\b", " ", singular))  # "left hand side"
    bare = (token if token in _REPLACEMENTS else token.removesuffix("'s") for token in tokens)
    sentence = _spaced(_REPLACEMENTS.get(token, token) for token in bare)
    sentence = re.sub("( a| digit| any| the(?= one $)) one(?= )", r"\1 1", sentence)
    sentence = re.sub(f"( {'| '.join(COLOURS)}) ones(?= )", r"\1 digits", sentence)
    words = re.sub(" ones(?= )", " 1", sentence).split()
    _refuse(not words, "That has no words. Ask something, such as: how many red digits are there?")
    _refuse(
        len(words) > MAX_WORDS,
        f"This question has {len(words)} words. Ask in {MAX_WORDS} or fewer; one thing at a time.",
    )
    return words


def parse_question(text: str) -> Question:
    """Return the meaning of a typed question; QuestionError where it has none that the model can answer."""
    words = question_words(text)
    _refuse({*words} & SCENE_WORDS, NO_SCENE)
    _refuse(not any(word in _CONTENT_WORDS for word in words), FEW_WORDS)
    for word in words:
        _refuse(word in _REFUSED_WORDS, _REFUSED_WORDS.get(word, "").format(word, colours=KNOWN_COLOURS))
    sentence = _spaced(words)
    fits = (
        request for request, pattern, unless in _REQUESTS if re.search(pattern, sentence) and not {*unless} & {*words}
    )
    request = next(fits, None)
    relation, _, anchor = _split_at_relation(sentence)
    between, noun, inner_anchor = _split_at_relation(anchor)  # of "the one left of the blue one" "the one" is the noun
    if between:
        anchor = inner_anchor
        _refuse(_split_at_relation(anchor)[0], FOUR_LOOKS)
        _refuse(_find_place(noun), PLACE_AND_COLOUR)
        _refuse({*noun.split()} & NAMES_AND_CONJUNCTIONS or not {*noun.split()} & {"one", "digit"}, SINGLE_NAME)
    _refuse(relation and _find_place(anchor), PLACE_AND_COLOUR)
    place = None if relation else _find_place(sentence)
    digit, colour = _digit_and_colour(anchor.split(), request)
    if not (request or relation or place):
        _refuse(sum(word in WORDS for word in words) < MIN_VOCABULARY_SHARE * len(words), FEW_WORDS)
        raise QuestionError("I do not see what is asked.")
    draft = Question(QuestionKind.COUNT, place, relation, digit, colour, between)
    question = replace(draft, kind=_kind(request, draft))
    for is_fault, why in _possible_faults(question, words):
        _refuse(is_fault, why)
    for word in sentence.removesuffix(anchor).split() if relation else ():
        _refuse(word in (*COLOURS, *DIGITS), NOTHING_BESIDES.format(word, word))
    if question.kind is QuestionKind.COLOUR_OF_DIGIT:
        return replace(question, colour=None)
    return replace(question, digit=None) if question.kind is QuestionKind.DIGIT_OF_COLOUR else question


def _refuse(condition: object, why: str) -> None:
    if condition:
        raise QuestionError(why)


def _spaced(words: Iterable[str]) -> str:
    """Return words with a space before and after each, so that a pattern with spaces finds whole words only."""
    return f" {' '.join(words)} "


def _split_at_relation(sentence: str) -> tuple[str | None, str, str]:
    """Return the first relation, the words before it, and those after it: its anchor, which is all words if none."""
    for match in re.finditer(" (?:(left|right)(?: side)? (?:of|from)|(above|below)|on top of)(?= )", sentence):
        side, level = match.groups()
        remainder = sentence[match.end() :]
        has_name = not {*COLOURS, *DIGITS}.isdisjoint(remainder.split())
        is_of_drawing = not has_name and re.search(" (drawing|picture|canvas) ", remainder)
        if level or not is_of_drawing:  # "on the left of the picture" is a place
            return (f"{side} of" if side else level or "above"), sentence[: match.start()] + " ", remainder
    return None, "", sentence


def _find_place(sentence: str) -> str | None:
    matches = [re.search(f" ({sides})(?:most)? ", sentence) for sides in ("top|bottom", "left|right")]
    return " ".join(match[1] for match in matches if match) or ("middle" if " middle " in sentence else None)


def _digit_and_colour(words: list[str], request: str | None) -> tuple[str | None, str | None]:
    for word in words:
        _refuse(word.isdecimal() and word not in DIGITS, f"{word} is not a digit. I know 0 to 9.")
    digits, colours = {*words} & {*DIGITS}, {*words} & {*COLOURS}
    _refuse(request == QuestionKind.EXISTS and len(digits) > 1, "Ask how many there are, or whether there is any.")
    _refuse(max(len(digits), len(colours)) > 1, "Ask about one digit and one colour at a time.")
    return next(iter(digits), None), next(iter(colours), None)


def _kind(request: str | None, question: Question) -> QuestionKind:
    """Return the kind of a question that has all but its kind."""
    if request in (QuestionKind.COUNT, QuestionKind.EXISTS):
        return QuestionKind(request)
    if question.between:
        return QuestionKind.COLOUR_TWO_STEPS if request == "colour" else QuestionKind.DIGIT_TWO_STEPS
    if question.relation:
        return QuestionKind.COLOUR_BESIDE if request == "colour" else QuestionKind.DIGIT_BESIDE
    if question.place:
        return QuestionKind.COLOUR_AT if request == "colour" else QuestionKind.DIGIT_AT
    names_colour = question.colour and not question.digit  # "which digit has the colour blue" asks for the digit
    return QuestionKind.COLOUR_OF_DIGIT if request == "colour" and not names_colour else QuestionKind.DIGIT_OF_COLOUR


def _possible_faults(question: Question, words: list[str]) -> tuple[tuple[object, str], ...]:
    """Return the possible faults of a question of its kind: whether it has each, and the message that says so."""
    digit, colour = question.digit, question.colour
    location, named = question.place or question.relation, digit or colour
    if question.kind is QuestionKind.COUNT:
        return (
            (location, "I can count all digits, or those of one colour or one kind, on the whole drawing."),
            ("colour" in words and not named, "I can count digits, but not colours."),
        )
    if question.kind is QuestionKind.EXISTS:
        return (
            (location, "I can say whether something is there, but not whether it is at a place."),
            (not named, "Is there what? Name a digit or a colour."),
        )
    if question.relation:
        nearest = question.between or question.relation
        return ((not named, f"{nearest.capitalize()} which one? Name a digit or a colour."),)
    if question.place:
        return ((named, PLACE_AND_COLOUR),)
    if question.kind is QuestionKind.COLOUR_OF_DIGIT:
        return ((not digit, "The colour of which digit? Name it, or say where it is."),)
    return (
        ("corner" in words, "Which corner? Top left, top right, bottom left or bottom right."),
        (digit and not colour, "You named the digit already. Ask for its colour, or what is beside it."),
        (not colour, "Which digit do you mean? Say its colour or where it is."),
    )


class ParsedQuestion(NamedTuple):
    """A typed question as the model gets it."""

    question: Question  # its meaning
    words: list[str]  # what the model reads
    is_rephrased: bool  # whether these words replace the typed ones, with which the model was not trained


def read_question(text: str) -> ParsedQuestion:
    """Return a typed question's meaning and words for it that the model was trained on; or a QuestionError."""
    question, words = parse_question(text), question_words(text)
    for phrasing in map(list, phrasings(question)):
        for filler in ([], *map(str.split, FILLERS)):
            if words in ([*phrasing, *filler], [*filler, *phrasing]):
                return ParsedQuestion(question, words, False)
    return ParsedQuestion(question, format_question(question).split(), True)


def answer_word(text: str) -> str:
    """Return an answer as ANSWERS has it: "Three" -> "3", "gray" -> "grey"; other words as they are."""
    word = text.strip().lower().rstrip(".!")
    if word in NUMBER_WORDS:
        return str(NUMBER_WORDS.index(word))
    return {"true": "yes", "false": "no", "none": NOTHING}.get(word, _SYNONYMS.get(word, word))
