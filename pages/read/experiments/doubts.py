"""Is this map an explanation? Regions are erased one after another, in the map's order and in others."""

from attention_core.faithfulness import subjects
from pages.read.changes import ChangedReading
from pages.read.inputs import draw_number
from pages.read.pad import MODEL, NAME
from ui.faithfulness import KeysInPicture, draw_faithfulness

draw_input = draw_number


def answer(_: ChangedReading) -> str:
    """Leave the answer to the drawing, which computes it."""
    return ""


def draw(changed: ChangedReading) -> None:
    """Draw what becomes of the answer as regions go."""
    drawing = changed.drawing
    over = KeysInPicture(drawing.canvas, drawing.reading.trace.story.key_axis.picture_grid, size=380)
    draw_faithfulness(NAME, MODEL, "blocks of nine regions", subjects.reading_subject, drawing.picture, over=over)
