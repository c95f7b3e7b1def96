"""Does it look the same in another text, or model? All heads of two runs, side by side."""

from typing import NamedTuple

from attention_core.hub.run import ModelRun
from pages.model.heads import choose_second_run, describe_pair, side_by_side
from pages.model.runs import draw_model


class RunPair(NamedTuple):
    """Two runs that are compared; no second one = it is still to be chosen."""

    run: ModelRun
    second: ModelRun | None


def draw_input() -> RunPair:
    """Draw the choice of a model and its input, and of a second run."""
    runs = draw_model()
    return RunPair(runs.run, choose_second_run(runs.request))


def answer(pair: RunPair) -> str:
    """Say what the chosen head does in both."""
    return describe_pair(pair.run, pair.second) if pair.second else "Choose a second run."


def draw(pair: RunPair) -> None:
    """Draw all heads of both."""
    if pair.second:
        side_by_side(pair.run, pair.second)
