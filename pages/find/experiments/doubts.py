"""Is this map an explanation? Regions are erased one after another, in the map's order and in others."""

from streamlit.delta_generator import DeltaGenerator

from attention_core.faithfulness import subjects
from pages.find.first_screen import MODEL, NAME, FindReading
from pages.find.inputs import draw_drawing
from ui.faithfulness import KeysInPicture, draw_faithfulness

draw_input = draw_drawing


def answer(_: tuple[FindReading, DeltaGenerator]) -> str:
    """Leave the answer to the drawing, which computes it."""
    return ""


def draw(inputs: tuple[FindReading, DeltaGenerator]) -> None:
    """Draw what becomes of the answer as regions go."""
    reading, beside = inputs
    over = KeysInPicture(reading.canvas, reading.masks.shape[1:], size=150)
    with beside:
        draw_faithfulness(NAME, MODEL, "regions", subjects.mask_subject, reading.picture, over=over)
