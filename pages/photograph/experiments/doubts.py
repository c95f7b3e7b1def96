"""Is this map an explanation? Regions are erased one after another, in the map's order and in others."""

from attention_core.faithfulness import subjects
from pages.photograph.inputs import draw_photo_and_query
from pages.photograph.numbers import pixels_of
from pages.photograph.reading import MODEL, NAME, temperature
from ui.faithfulness import KeysInPicture, QuestionedMap, question_map
from ui.faithfulness import answer as answer
from ui.faithfulness import draw as draw

OVER_MANY = "Here a region is left out as a key; below it became grey."


def draw_input() -> QuestionedMap:
    """Draw the photograph and the word; return what becomes of the answer as regions go."""
    reading, _ = draw_photo_and_query()
    over = KeysInPicture(pixels_of(reading), reading.photo.grid, size=150)
    inputs = reading.photo.features, reading.query.vector, reading.query.scale, temperature()
    return question_map(NAME, MODEL, "regions", subjects.photo_subject, *inputs, over=over, note=OVER_MANY)
