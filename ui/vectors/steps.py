"""Step by step: a step in words, its matrix or product, and how the chosen cell came about."""

import streamlit as st

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from attention_core.topics.vectors import Problem
from attention_core.topics.vectors.cells import column_kind, row_kind
from ui.player import show_step_chart, show_step_heading
from ui.vectors.cell import cell_pickers, chosen_cell, show_cell
from ui.vectors.problem import CELL, NAME, STEPS

SIZE = 520
"""Screen pixels that a step's matrix and its factors may take."""


def chosen_query(trace: AttentionTrace) -> int:
    """Return the position of the chosen cell's query, or of the last one there is."""
    return chosen_cell(step_of(trace, "weights"))[0]


def step_by_step(problem: Problem, trace: AttentionTrace) -> None:
    """Draw the stepper, the step's heading, formula, meaning and code (folded), its matrix, and one cell of it."""
    if not (step := STEPS.draw(trace, chosen_query(trace))):
        return
    words, picture = st.columns([0.8, 1], gap="medium")
    with words:
        show_step_heading(step)
        with st.container(key="desk_code"), st.expander("PyTorch"):
            st.code(step.code)
        show_cell(problem, trace, step)
    with picture:
        _step_matrix(trace, step)
        cell_pickers(step)


def _step_matrix(trace: AttentionTrace, step: Step) -> None:
    row, column = chosen_cell(step)

    def take(row: int, column: int) -> None:
        CELL.value |= {row_kind(step): row, column_kind(step): column}

    show_step_chart(trace, step, 0, row, NAME, SIZE, column=column, on_choose=take)
