"""Can a sharp map still change? How much of a gradient the softmax passes, at first and now."""

from attention_core.attention.wording import percent
from attention_core.live_training.lesson import BEFOREHAND
from pages.train.first_screen import looks_of
from pages.train.inputs import Learning, draw_film_beside, draw_lesson

draw_input = draw_lesson


def answer(learning: Learning) -> str:
    """Say how much of a gradient comes through, in the visitor's input."""
    settings = learning.run.settings
    if settings.broken == BEFOREHAND:
        return "Not here: the looks were kept, and only what comes after them was learned."
    if settings.lesson == "triples":
        return "Choose another lesson: this one shows sums over pairs of numbers, and not single weights."
    if not learning.run.step:
        return "The sharper a map, the less of a gradient its softmax passes. Train it here to measure how much."
    passed = [look.passed for look in looks_of(learning.run, learning.inputs, learning.text)]
    return (
        f"The sharper, the less: its softmax passed {percent(passed[0])} of a gradient at first, "
        f"now {percent(passed[-1])}."
    )


def draw(learning: Learning) -> None:
    """Draw the film, in which the map grows sharp."""
    draw_film_beside(learning)
