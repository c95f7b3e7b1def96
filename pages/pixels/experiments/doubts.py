"""Is this map an explanation? Ink is erased pixel by pixel, in the map's order and in others."""

from attention_core.faithfulness import subjects
from pages.pixels import first_screen as screen
from pages.pixels.inputs import ReadPad, draw_drawing
from ui.faithfulness import KeysInPicture, draw_faithfulness

draw_input = draw_drawing


def answer(pad: ReadPad) -> str:
    """Leave the answer to the drawing, which computes it."""
    return "" if pad.reading.trace.has_softmax else "Without a softmax weights are no shares. Take another layer."


def draw(pad: ReadPad) -> None:
    """Draw what becomes of the answer as ink goes."""
    if not pad.reading.trace.has_softmax:
        return
    paper, high = screen.light_ink(pad.ink), screen.MAX_MAP_WEIGHT
    over = KeysInPicture(paper, pad.ink.shape, size=150, smooth=False, high=high)
    with pad.beside:
        draw_faithfulness(screen.NAME, screen.LAYER.value, "ink pixels", subjects.pixel_subject, pad.ink, over=over)
