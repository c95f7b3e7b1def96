"""Every question that there is."""

from attention_core.data.colours import COLOURS
from attention_core.data.questions import PLACES, RELATIONS, Question, QuestionKind

EVERY = [
    *[Question(kind, place=place) for kind in (QuestionKind.DIGIT_AT, QuestionKind.COLOUR_AT) for place in PLACES],
    *[Question(QuestionKind.DIGIT_OF_COLOUR, colour=colour) for colour in COLOURS],
    *[Question(QuestionKind.COLOUR_OF_DIGIT, digit=digit) for digit in "0123456789"],
    Question(QuestionKind.COUNT),
    *[Question(kind, digit="1") for kind in (QuestionKind.COUNT, QuestionKind.EXISTS)],
    *[Question(kind, colour="grey") for kind in (QuestionKind.COUNT, QuestionKind.EXISTS)],
    *[Question(kind, digit="3", colour="pink") for kind in (QuestionKind.COUNT, QuestionKind.EXISTS)],
    *[
        Question(kind, relation=relation, digit=digit, colour=colour)
        for kind in (QuestionKind.DIGIT_BESIDE, QuestionKind.COLOUR_BESIDE)
        for relation in RELATIONS
        for digit, colour in (("1", None), (None, "grey"), ("4", "red"))
    ],
    *[
        Question(kind, relation=relation, digit=digit, colour=colour, between=between)
        for kind in (QuestionKind.DIGIT_TWO_STEPS, QuestionKind.COLOUR_TWO_STEPS)
        for relation in RELATIONS
        for between in RELATIONS
        for digit, colour in (("1", None), (None, "grey"), ("4", "red"))
    ],
]
