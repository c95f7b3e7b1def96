"""What if a head is switched off? A head or one of its weights is changed, and the output computed anew."""

from typing import NamedTuple

from pages.model.ablation import change_heads
from pages.model.effects import ChangedHeads, draw_changed_heads, drop_heads
from pages.model.runs import Need, Runs, draw_model_and_head


class HeadsOff(NamedTuple):
    """A run, and what becomes of its answer without each head."""

    runs: Runs
    dropped: ChangedHeads


def draw_input() -> HeadsOff:
    """Draw the choice of a model, its input and a head; return what becomes of the answer without each head."""
    runs = draw_model_and_head(Need.MODEL, has_changes=True)
    return HeadsOff(runs, drop_heads(runs.run, runs.model_request))


def answer(heads_off: HeadsOff) -> str:
    """Say without which head the likeliest token changes most, or why this is tried."""
    return heads_off.dropped.answer


def draw(heads_off: HeadsOff) -> None:
    """Draw what can be changed of the head, what becomes of the output, and how far each head moves it."""
    runs = heads_off.runs
    change_heads(runs.run, runs.changed, runs.model_request)
    draw_changed_heads(heads_off.dropped)
