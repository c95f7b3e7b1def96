"""What does it keep while it writes? Keys and values, token by token."""

from contextlib import suppress

from attention_core.hub.model import ModelError
from pages.model.runs import Need, Runs, draw_model
from pages.model.writing import describe_cache, growing_cache, written


def draw_input() -> Runs:
    """Draw the choice of a model and its text."""
    return draw_model(Need.WRITING)


def answer(runs: Runs) -> str:
    """Say how large its cache of keys and values is by now."""
    with suppress(ModelError):  # the drawing tells it
        return describe_cache(written(runs.model_request))
    return ""


def draw(runs: Runs) -> None:
    """Draw the text so far, and how a head's weights grow with it."""
    growing_cache(runs.run, runs.model_request)
