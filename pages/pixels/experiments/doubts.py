"""Is this map an explanation? Ink is erased pixel by pixel, in the map's order and in others."""

from attention_core.faithfulness import subjects
from pages.pixels import first_screen as screen
from pages.pixels.inputs import draw_drawing
from ui.faithfulness import KeysInPicture, QuestionedMap, question_map
from ui.faithfulness import answer as answer
from ui.faithfulness import draw as draw


def draw_input() -> QuestionedMap:
    """Draw the drawing; return what becomes of the answer as ink goes."""
    pad = draw_drawing()
    if not pad.reading.trace.has_softmax:
        return QuestionedMap.missing("Without a softmax weights are no shares. Take another layer.")
    paper, high = screen.light_ink(pad.ink), screen.MAX_MAP_WEIGHT
    over = KeysInPicture(paper, pad.ink.shape, size=150, smooth=False, high=high)
    erased = "ink pixels", subjects.pixel_subject, pad.ink
    return question_map(screen.NAME, screen.LAYER.value, *erased, over=over, beside=pad.beside)
