"""What if a head is switched off? A head or one of its weights is changed, and the output computed anew."""

from pages.model.ablation import change_heads
from pages.model.runs import Need, Runs, draw_model_and_head


def draw_input() -> Runs:
    """Draw the choice of a model, its input and a head."""
    return draw_model_and_head(Need.MODEL, has_changes=True)


def answer(_: Runs) -> str:
    """Say why this is tried."""
    return "High weights cannot tell whether a head matters: what becomes of the output can."


def draw(runs: Runs) -> None:
    """Draw what can be changed of the head, and what becomes of the output."""
    change_heads(runs.run, runs.changed, runs.model_request)
