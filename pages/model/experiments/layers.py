"""What comes through all layers? Weights multiplied from layer to layer, beside those of the last."""

from pages.model.heads import rolled_out
from pages.model.runs import Runs, draw_model_and_head


def draw_input() -> Runs:
    """Draw the choice of a model, its input and a head, whose kind of attention is followed."""
    return draw_model_and_head()


def answer(_: Runs) -> str:
    """Say what is multiplied, and what is not."""
    return "Attention rollout multiplies weights; values do not count."


def draw(runs: Runs) -> None:
    """Draw what comes through all layers, beside the last layer's weights."""
    rolled_out(runs.run)
