"""Step by step: a step in words, with the numbers of the chosen cell, and its matrix or product."""

import streamlit as st

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from ui.player import StepLook, show_step_chart, show_words
from ui.vectors.problem import CELL, NAME, STEPS, chosen_cell, column_kind, row_kind

SIZE = 520
"""Screen pixels that a step's matrix and its factors may take."""


def chosen_query(trace: AttentionTrace) -> int:
    """Return the position of the chosen cell's query, or of the last one there is."""
    return chosen_cell(step_of(trace, "weights"))[0]


def step_by_step(trace: AttentionTrace) -> None:
    """Draw the stepper, the step in words, and its matrix, of which a cell is chosen by a click or with keys."""
    query, key = chosen_cell(step_of(trace, "weights"))
    if not (step := STEPS.draw(trace, query)):
        return
    words, picture = st.columns([0.8, 1], gap="medium")
    with words:
        show_words(trace, step, 0, query, key)
    with picture:
        _step_matrix(trace, step)


def _step_matrix(trace: AttentionTrace, step: Step) -> None:
    def take(row: int, column: int) -> None:
        CELL.value |= {row_kind(step): row, column_kind(step): column}

    def look(step: Step) -> StepLook:
        return StepLook(*chosen_cell(step), SIZE)

    show_step_chart(trace, step, 0, look, NAME, stepper=STEPS, on_choose=take)
