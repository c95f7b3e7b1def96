"""All the numbers: every step, of which a cell is chosen by a click or with keys."""

from attention_core import AttentionTrace, Step
from pages.vectors.tables import CELL, NAME, STEPS, chosen_cell, column_kind, row_kind
from ui.player import StepStyle, show_all_numbers, step_of

STEP_SIZE = 520  # screen pixels that a step's matrix and its factors may take


def draw_numbers(trace: AttentionTrace) -> None:
    """Draw all the numbers, of which a cell is chosen by a click or with keys."""
    query, key = chosen_cell(step_of(trace, "weights"))

    def on_cell(step: Step, row: int, column: int) -> None:
        CELL.value |= {row_kind(step): row, column_kind(step): column}

    def style_of(step: Step) -> StepStyle:
        return StepStyle(*chosen_cell(step), STEP_SIZE)

    show_all_numbers(trace, STEPS, NAME, query=query, style_of=style_of, on_cell=on_cell, widths=(0.8, 1), key=key)
