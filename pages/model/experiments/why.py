"""Why does it look there? A score taken apart by its sources, down to the word."""

from typing import NamedTuple

from pages.model.glance import chosen_layers
from pages.model.one_head import token_view
from pages.model.runs import Need, Runs, draw_model_and_head
from pages.model.why import Cell, choose_cell, describe_weight, explain_weight


class ChosenWeight(NamedTuple):
    """A run, and one weight in it."""

    runs: Runs
    cell: Cell


def draw_input() -> ChosenWeight:
    """Draw the choice of a model, its input, a head, and the weight that is explained."""
    runs = draw_model_and_head(Need.MODEL)
    selection, layers = chosen_layers(runs.run)
    token_view(runs.run, layers[selection.layer], selection.head)
    return ChosenWeight(runs, choose_cell(runs.run))


def answer(weight: ChosenWeight) -> str:
    """Say from where to where the head looks, and how much."""
    return describe_weight(weight.runs.run, weight.cell)


def draw(weight: ChosenWeight) -> None:
    """Draw what the score consists of."""
    explain_weight(weight.runs.run, weight.runs.model_request, weight.cell)
