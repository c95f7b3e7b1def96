"""Which head makes it say this word? What each head and layer adds to the logit."""

from pages.model.effects import logit_by_part
from pages.model.runs import Need, Runs, draw_model


def draw_input() -> Runs:
    """Draw the choice of a model and its text."""
    return draw_model(Need.WORDS, Need.SINGLE_STACK)


def answer(_: Runs) -> str:
    """Leave the answer to the drawing, which asks for the word."""
    return ""


def draw(runs: Runs) -> None:
    """Draw what each head adds, and what is likeliest after each layer."""
    logit_by_part(runs.run, runs.model_request)
