"""Is this map an explanation? Regions are erased one after another, in the map's order and in others."""

from attention_core.faithfulness import subjects
from pages.read.inputs import draw_number
from pages.read.pad import MODEL, NAME
from ui.faithfulness import KeysInPicture, QuestionedMap, question_map
from ui.faithfulness import answer as answer
from ui.faithfulness import draw as draw


def draw_input() -> QuestionedMap:
    """Draw the number; return what becomes of the answer as regions go."""
    drawing = draw_number().drawing
    over = KeysInPicture(drawing.canvas, drawing.reading.trace.story.key_axis.picture_grid, size=380)
    erased = "nine-region blocks", subjects.reading_subject, drawing.picture
    return question_map(NAME, MODEL, *erased, over=over)
