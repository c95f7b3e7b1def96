"""Did attention do any work? The network beside its controls on the same batches."""

from attention_core.attention.wording import percent
from pages.train.first_screen import LESSON_WORDINGS
from pages.train.inputs import Learning, draw_film_beside, draw_lesson
from ui.layout import figures_table

draw_input = draw_lesson


def answer(_: Learning) -> str:
    """Leave the verdict to the film, whose sentence follows it."""
    return ""


def draw(learning: Learning) -> None:
    """Draw the film, and the figures of each network."""
    draw_film_beside(learning)
    run, frame = learning.run, learning.run.frames[-1]
    if not frame.step:
        return
    sizes = (sum(parameter.numel() for parameter in model.parameters()) for model in run.models.values())
    figures = zip(run.models, frame.accuracies.values(), frame.losses.values(), sizes, strict=True)
    rows = [(name, percent(right), f"{loss:.2f}", f"{size:,}") for name, right, loss, size in figures]
    measure = LESSON_WORDINGS[run.settings.lesson]["measure"].lower()
    with learning.film_column:
        figures_table((f"after {frame.step:,} batches", measure, "loss in training", "parameters"), *rows)
