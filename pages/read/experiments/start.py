"""What if it began in the middle? The first query is that of a later look, and the rest is read."""

from functools import partial

from pages.read.changes import AFTER, ChangedReading
from pages.read.first_screen import draw_read_number
from pages.read.inputs import export_reading
from ui.fragments import BODY, rerun_fragments
from ui.state import single_choice
from ui.take_along import take_along


def draw_input() -> ChangedReading:
    """Draw how the number is read, and the choice of how much is already read."""
    changed = draw_read_number()
    names = {number: f"{number}: {label}" for number, label in enumerate(changed.drawing.labels, 1)}
    label, choices = "Begin as if it had read up to", {0: "nothing"} | names
    single_choice(label, AFTER, choices, wrap=True, on_change=partial(rerun_fragments, BODY))
    take_along(lambda: export_reading(changed))
    return changed


def answer(changed: ChangedReading) -> str:
    """Say what is read."""
    if not changed.after:
        return f"{changed.describe()} Let it begin later."
    return f"{changed.describe()} The picture is the same: its state alone knows how far it has come."


def draw(_: ChangedReading) -> None:
    """Draw no more: input and outcome stand side by side."""
