"""Is this map an explanation? English words are erased one after another, in the map's order and in others."""

from pages.transformer.inputs import draw_reading
from pages.transformer.reading import NAME, TRANSLATOR, Reading
from ui.translators import draw_translation_faithfulness, traced_translation

draw_input = draw_reading


def answer(_: Reading) -> str:
    """Leave the answer to the drawing, which computes it."""
    return ""


def draw(reading: Reading) -> None:
    """Draw what becomes of the answer as words go."""
    traced = traced_translation(TRANSLATOR, reading.text, ())
    draw_translation_faithfulness(NAME, reading.text, traced)
