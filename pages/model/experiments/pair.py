"""Does it look the same in another text, or model? All heads of two runs, side by side."""

from pages.model.heads import side_by_side
from pages.model.runs import Runs, draw_model


def draw_input() -> Runs:
    """Draw the choice of a model and its input."""
    return draw_model()


def answer(_: Runs) -> str:
    """Leave the answer to the drawing, which asks for the second run."""
    return ""


def draw(runs: Runs) -> None:
    """Draw the choice of a second run, and both."""
    side_by_side(runs.run, runs.request)
