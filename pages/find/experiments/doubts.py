"""Is this map an explanation? Regions are erased one after another, in the map's order and in others."""

from attention_core.faithfulness import subjects
from pages.find.first_screen import MODEL, NAME
from pages.find.inputs import draw_drawing
from ui.faithfulness import KeysInPicture, QuestionedMap, question_map
from ui.faithfulness import answer as answer
from ui.faithfulness import draw as draw


def draw_input() -> QuestionedMap:
    """Draw the drawing; return what becomes of the answer as regions go."""
    reading, beside = draw_drawing()
    over = KeysInPicture(reading.canvas, reading.masks.shape[1:], size=150)
    return question_map(NAME, MODEL, "regions", subjects.mask_subject, reading.picture, over=over, beside=beside)
