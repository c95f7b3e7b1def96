"""What if one part is changed? The lesson or the network loses a part, and is trained anew."""

from attention_core.live_training.live_run import LESSONS
from pages.train import first_screen as screen
from pages.train.inputs import Learning, draw_film_beside, draw_lesson
from ui.state import single_choice


def draw_input() -> Learning:
    """Draw the choice of what is changed, the lesson and the input."""
    options = {name: screen.WORDINGS["changes"][name] for name in LESSONS[screen.LESSON.value].broken}
    single_choice("What is changed", screen.SETTINGS["broken"], options, disabled=screen.is_on(), wrap=True)
    return draw_lesson()


def answer(learning: Learning) -> str:
    """Say what is to be seen."""
    settings = learning.run.settings
    effects = screen.WORDINGS["seen"] | screen.LESSON_WORDINGS[settings.lesson].get("seen", {})
    return effects[settings.broken]


def draw(learning: Learning) -> None:
    """Draw the film."""
    draw_film_beside(learning)
