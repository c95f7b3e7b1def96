"""Why does it look there? A score taken apart by its sources, down to the word."""

from pages.model.glance import chosen_layers
from pages.model.one_head import token_view
from pages.model.runs import Need, Runs, draw_model_and_head
from pages.model.why import explain_weight


def draw_input() -> Runs:
    """Draw the choice of a model, its input and a head."""
    return draw_model_and_head(Need.MODEL)


def answer(_: Runs) -> str:
    """Leave the answer to the drawing, which computes it."""
    return ""


def draw(runs: Runs) -> None:
    """Draw where the head looks, and what its score consists of."""
    selection, layers = chosen_layers(runs.run)
    token_view(runs.run, layers[selection.layer], selection.head)
    explain_weight(runs.run, runs.model_request)
