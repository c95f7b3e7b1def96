"""Is this map an explanation? Words are erased one after another, in the order of their weights and in others."""

from attention_core.faithfulness import subjects
from pages.matter.inputs import ATTENTION, NAME, Judgement
from pages.matter.inputs import draw_input as draw_input
from ui.faithfulness import draw_faithfulness


def answer(_: Judgement) -> str:
    """Leave the answer to the drawing, which computes it."""
    return ""


def draw(judgement: Judgement) -> None:
    """Draw what becomes of the answer as words go."""
    words = judgement.sentence.words
    draw_faithfulness(NAME, ATTENTION, "words", subjects.sentence_subject, words)
