"""What if one head had read another sentence? Parts of a second run are put into the first."""

from pages.model.effects import patch_heads
from pages.model.runs import Need, Runs, draw_model


def draw_input() -> Runs:
    """Draw the choice of a model and its text."""
    return draw_model(Need.SINGLE_STACK)


def answer(_: Runs) -> str:
    """Leave the answer to the drawing, which asks for the second sentence."""
    return ""


def draw(runs: Runs) -> None:
    """Draw what becomes of the answer with one part of the second run."""
    patch_heads(runs.run, runs.model_request)
