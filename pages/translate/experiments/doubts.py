"""Is this map an explanation? English words are erased one after another, in the map's order and in others."""

from pages.translate.inputs import draw_word
from ui.faithfulness import QuestionedMap
from ui.faithfulness import answer as answer
from ui.faithfulness import draw as draw
from ui.translators import NAME, question_translation


def draw_input() -> QuestionedMap:
    """Draw the sentence and its French; return what becomes of the answer as words go."""
    translations = draw_word()
    traced = translations.traced
    if traced.view.source != traced.view.keys:
        return QuestionedMap.missing("One vector has no map over words. Take a model with attention.")
    return question_translation(NAME, translations.text, traced)
