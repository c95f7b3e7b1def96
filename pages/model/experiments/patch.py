"""What if one head had read another sentence? Heads of a second run are put into the first."""

from pages.model.effects import ChangedHeads, draw_changed_heads, patch_heads
from pages.model.runs import Need, draw_model


def draw_input() -> ChangedHeads:
    """Draw the choice of a model, its text and a second one; return what becomes of the answer."""
    runs = draw_model(Need.SINGLE_STACK)
    return patch_heads(runs.run, runs.model_request)


def answer(patched: ChangedHeads) -> str:
    """Say what the answer becomes with the head that moves it most."""
    return patched.answer


def draw(patched: ChangedHeads) -> None:
    """Draw what becomes of the answer with each head of the second run."""
    draw_changed_heads(patched)
