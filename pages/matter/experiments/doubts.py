"""Is this map an explanation? Words are erased one after another, in the order of their weights and in others."""

from attention_core.faithfulness import subjects
from pages.matter import inputs
from ui.faithfulness import QuestionedMap, question_map
from ui.faithfulness import answer as answer
from ui.faithfulness import draw as draw


def draw_input() -> QuestionedMap:
    """Draw the sentence; return what becomes of the answer as words go."""
    words = inputs.draw_input().sentence.words
    return question_map(inputs.NAME, inputs.ATTENTION, "words", subjects.sentence_subject, words)
