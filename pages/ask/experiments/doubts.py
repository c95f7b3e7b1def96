"""Is this map an explanation? Regions are erased one after another, in the map's order and in others."""

from attention_core.data.questions import word_ids_of
from attention_core.faithfulness import subjects
from pages.ask.first_screen import MODEL, NAME
from pages.ask.inputs import SceneWithQuestion, draw_scene_and_question
from ui.faithfulness import KeysInPicture, draw_faithfulness

draw_input = draw_scene_and_question


def answer(_: SceneWithQuestion) -> str:
    """Leave the answer to the drawing, which computes it."""
    return ""


def draw(scene: SceneWithQuestion) -> None:
    """Draw what becomes of the answer as regions go."""
    over = KeysInPicture(scene.drawing.canvas, scene.answer.looks[0].story.key_axis.picture_grid, size=150)
    erased = "regions", subjects.question_subject, scene.drawing.picture, word_ids_of(scene.reading.words)
    with scene.beside:
        draw_faithfulness(NAME, MODEL, *erased, over=over)
