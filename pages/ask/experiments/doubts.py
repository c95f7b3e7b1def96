"""Is this map an explanation? Regions are erased one after another, in the map's order and in others."""

from attention_core.data.questions import word_ids_of
from attention_core.faithfulness import subjects
from pages.ask.first_screen import MODEL, NAME
from pages.ask.inputs import draw_scene_and_question
from ui.faithfulness import KeysInPicture, QuestionedMap, question_map
from ui.faithfulness import answer as answer
from ui.faithfulness import draw as draw


def draw_input() -> QuestionedMap:
    """Draw the drawing and its question; return what becomes of the answer as regions go."""
    scene = draw_scene_and_question()
    over = KeysInPicture(scene.drawing.canvas, scene.answer.looks[0].story.key_axis.picture_grid, size=150)
    erased = "regions", subjects.question_subject, scene.drawing.picture, word_ids_of(scene.reading.words)
    return question_map(NAME, MODEL, *erased, over=over, beside=scene.beside)
