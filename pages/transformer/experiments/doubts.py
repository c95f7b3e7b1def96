"""Is this map an explanation? English words are erased one after another, in the map's order and in others."""

from pages.transformer.inputs import draw_reading
from pages.transformer.reading import NAME, TRANSLATOR
from ui.faithfulness import QuestionedMap
from ui.faithfulness import answer as answer
from ui.faithfulness import draw as draw
from ui.translators import question_translation, traced_translation


def draw_input() -> QuestionedMap:
    """Draw the sentence; return what becomes of the answer as words go."""
    text = draw_reading().text
    return question_translation(NAME, text, traced_translation(TRANSLATOR, text, ()))
