"""Is this map an explanation? Tokens or patches go one after another, in the map's order and in others."""

from pages.model.effects import draw_run_faithfulness
from pages.model.runs import Need, Runs, draw_model


def draw_input() -> Runs:
    """Draw the choice of a model and its input."""
    return draw_model(Need.NO_PICTURE)


def answer(_: Runs) -> str:
    """Leave the answer to the drawing, which computes it."""
    return ""


def draw(runs: Runs) -> None:
    """Draw what becomes of the answer as tokens or patches go."""
    draw_run_faithfulness(runs.run, runs.model_request)
