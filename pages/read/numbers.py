"""All the numbers of the present look: the state asks, a glimpse comes back, the state moves on."""

from attention_core.attention.types import Role, Step
from attention_core.inference.number_reading import ReadDrawing
from pages.read.pad import NAME
from ui.player import Stepper, StepStyle, Walk, described_key, show_all_numbers

WALK = Walk(NAME, label="Look")
STEPS = Stepper(NAME, modifier="Shift+")


def draw_numbers(drawing: ReadDrawing) -> None:
    """Draw all the numbers, at the present look."""
    look, trace = WALK.draw(drawing.labels), drawing.reading.trace
    keys = trace.story.key_axis

    def style_of(step: Step) -> StepStyle:
        if step.role is Role.INPUT:
            return StepStyle(size=504)
        return StepStyle(described_key(trace, 0, look, NAME) if step.row_axis is keys else look, size=480)

    show_all_numbers(trace, STEPS, NAME, query=look, style_of=style_of, on_query=WALK.field.set, widths=(0.9, 1.1))
