"""How large is every weight of one head? Its matrix, and the chosen query in numbers."""

from pages.model.glance import chosen_layers, is_off
from pages.model.one_head import inspect_head
from pages.model.opening import describe_look
from pages.model.runs import Runs, draw_model_and_head


def draw_input() -> Runs:
    """Draw the choice of a model, its input and a head."""
    return draw_model_and_head(has_changes=True)


def answer(runs: Runs) -> str:
    """Say where the chosen token looks most."""
    selection, layers = chosen_layers(runs.changed)
    trace = layers[selection.layer]
    if is_off(trace, selection.head):
        return "It is switched off: all its weights count for nothing."
    return f"{describe_look(runs.changed, trace, selection)}."


def draw(runs: Runs) -> None:
    """Draw the chosen token's weights in numbers, beside the whole matrix."""
    inspect_head(runs.changed)
