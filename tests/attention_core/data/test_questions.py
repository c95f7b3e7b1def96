"""Typed questions: natural English is understood, the rest is refused kindly, and the model reads words it knows."""

import random

import pytest

from attention_core.data.questions import (
    UNKNOWN,
    Question,
    QuestionError,
    QuestionKind,
    answer_word,
    format_question,
    parse_question,
    phrasings,
    question_words,
    read_question,
    word_ids_of,
)
from tests.support.questions import EVERY

UNDERSTOOD = {
    "What's in the top-left corner?": Question(QuestionKind.DIGIT_AT, place="top left"),
    "what digit is closest to the top": Question(QuestionKind.DIGIT_AT, place="top"),
    "What is on the left of the picture?": Question(QuestionKind.DIGIT_AT, place="left"),
    "what is the topmost number's colour": Question(QuestionKind.COLOUR_AT, place="top"),
    "what color is at the center": Question(QuestionKind.COLOUR_AT, place="middle"),
    "which number is written in green?": Question(QuestionKind.DIGIT_OF_COLOUR, colour="green"),
    "which digit has the colour blue": Question(QuestionKind.DIGIT_OF_COLOUR, colour="blue"),
    "what number is coloured red": Question(QuestionKind.DIGIT_OF_COLOUR, colour="red"),
    "what colour's the seven?": Question(QuestionKind.COLOUR_OF_DIGIT, digit="7"),
    "what colour is the one?": Question(QuestionKind.COLOUR_OF_DIGIT, digit="1"),
    "colour of the 7": Question(QuestionKind.COLOUR_OF_DIGIT, digit="7"),
    "how many digits": Question(QuestionKind.COUNT),
    "count the blue ones": Question(QuestionKind.COUNT, colour="blue"),
    "how many reds are there": Question(QuestionKind.COUNT, colour="red"),
    "how many red sevens?": Question(QuestionKind.COUNT, colour="red", digit="7"),
    "is there a gray digit": Question(QuestionKind.EXISTS, colour="grey"),
    "is a 5 in the picture?": Question(QuestionKind.EXISTS, digit="5"),
    "is the 7 red?": Question(QuestionKind.EXISTS, digit="7", colour="red"),
    "have I drawn a nine": Question(QuestionKind.EXISTS, digit="9"),
    "can you find a 9": Question(QuestionKind.EXISTS, digit="9"),
    "left of the blue one": Question(QuestionKind.DIGIT_BESIDE, relation="left of", colour="blue"),
    "which digit is on the left hand side of the blue digit": Question(
        QuestionKind.DIGIT_BESIDE, relation="left of", colour="blue"
    ),
    "what's underneath the 4?": Question(QuestionKind.DIGIT_BESIDE, relation="below", digit="4"),
    "what colour is the number below the 3": Question(QuestionKind.COLOUR_BESIDE, relation="below", digit="3"),
    "what is above the red three?": Question(QuestionKind.DIGIT_BESIDE, relation="above", digit="3", colour="red"),
    "which digit is above the one left of the blue one?": Question(
        QuestionKind.DIGIT_TWO_STEPS, relation="above", colour="blue", between="left of"
    ),
    "what is left of the one above the red one?": Question(
        QuestionKind.DIGIT_TWO_STEPS, relation="left of", colour="red", between="above"
    ),
    "what colour is the number left of the one over the red 3": Question(
        QuestionKind.COLOUR_TWO_STEPS, relation="left of", digit="3", colour="red", between="above"
    ),
    "what colour is the digit below the one that is to the right of the 7": Question(
        QuestionKind.COLOUR_TWO_STEPS, relation="below", digit="7", between="right of"
    ),
    "which digit is under the number on top of the one": Question(
        QuestionKind.DIGIT_TWO_STEPS, relation="below", digit="1", between="above"
    ),
}
REFUSED = {
    "": "Ask something",
    "   \n": "Ask something",
    "🙂🙂": "no words",
    "how many digits " * 80: "characters",
    "what " * 30: "has 30 words",
    "ما هو الرقم الموجود على يسار الأزرق": "English",  # letters are no words
    "नीले अंक के बाईं ओर कौन सा अंक लिखा हुआ है": "English",  # nor do marks part them
    "Welche Ziffer ist links von der blauen?": "English",
    "Quelle est la couleur de ce chiffre ?": "English",
    "七は何色ですか": "English",
    "<script>alert(1)</script>": "English",
    "which digit is not red": "not",
    "where is the 7": "where",
    "which digit is next to the blue one": "left of",
    "which digit is the biggest": "sizes",
    "is there more than one 7": "how many",
    "how many different colours are there": "colours",
    "which digit is turquoise": "turquoise",
    "how many 12": "12 is not a digit",
    "what is in the corner": "Which corner",
    "what is the 7": "named the digit",
    "red or blue?": "one colour at a time",
    "which digit is above the one left of the one below the blue one": "four looks",
    "what is left of the topmost red digit": "not by both",
    "what is above the one left of the topmost red digit": "not by both",
    "what is above the top one left of the 3": "not by both",
    "which digit on the left of the 3 is above the blue one": "one digit only, the last",
    "what is above the red one left of the blue one": "one digit only, the last",
    "what is above and left of the blue one": "one digit only, the last",
    "which digit is above the one and left of the blue one": "one digit only, the last",
    "which digit is above left of the blue one": "one digit only, the last",
    "what is above the one left of the digit": "Left of which one?",
    "is there a digit above the one left of the blue one": "at a place",
}


@pytest.mark.parametrize("text", UNDERSTOOD)
def test_natural_english_is_understood(text):
    assert parse_question(text) == UNDERSTOOD[text]


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:24])
def test_what_cannot_be_asked_is_refused_with_a_sentence_that_says_why(text):
    with pytest.raises(QuestionError) as refused:
        parse_question(text)
    said = str(refused.value)
    assert REFUSED[text] in said
    assert said[-1] in ".?"
    assert len(said) < 140


@pytest.mark.parametrize("seed", range(12))
def test_every_written_question_is_read_back_word_for_word(seed):
    for number, question in enumerate(EVERY):
        text = format_question(question, random.Random(1000 * seed + number))
        read = read_question(text)
        assert read.question == question, text
        assert read.words == question_words(text)
        assert UNKNOWN not in word_ids_of(read.words), text
        assert not read.is_rephrased


def test_other_words_are_rephrased_into_words_that_the_model_knows():
    for text, question in UNDERSTOOD.items():
        read = read_question(text)
        assert read.question == question
        assert UNKNOWN not in word_ids_of(read.words), text
    assert read_question("left of the blue one").is_rephrased
    assert not read_question("Which digit is LEFT of the blue one, please?").is_rephrased


def test_two_steps_take_three_looks_and_phrasings_hold_only_what_is_written():
    asked = "what colour is the 7?", "what is above the 7?", "what is left of the one above the 7?"
    assert [parse_question(text).n_looks for text in asked] == [2, 2, 3]
    longest = max((way for question in EVERY for way in phrasings(question)), key=len)
    assert question_words(" ".join((*longest, "in", "this", "picture")))
    at_top, at_left = (phrasings(Question(QuestionKind.DIGIT_AT, place=place)) for place in ("top", "left"))
    assert tuple(["which", "is", "the", "topmost", "digit"]) in at_top
    assert not at_top & at_left


@pytest.mark.parametrize(
    ("said", "answer"), [("Three", "3"), (" Yes.", "yes"), (" gray ", "grey"), ("none", "nothing"), ("7", "7")]
)
def test_answers_are_brought_to_the_words_of_the_model(said, answer):
    assert answer_word(said) == answer
