"""Step by step: a step in words, its matrix or product, and how the chosen cell came about."""

import streamlit as st

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from attention_core.charts import matrix_chart
from attention_core.charts.vega import Chart
from attention_core.device import to_array
from attention_core.topics.vectors import Problem
from attention_core.topics.vectors.cells import column_kind, factors, row_kind
from attention_core.topics.vectors.charts import FONT_SIZE, LARGEST_CELL, Factor, product_cell, product_chart
from ui.chart import draw_chart
from ui.player import show_step_heading
from ui.state import chart_selection
from ui.vectors.cell import cell_pickers, chosen_cell, show_cell
from ui.vectors.problem import CELL, STEPS

SIZE = (560, 370)
"""Screen pixels that a product may take, across and down."""


def chosen_query(trace: AttentionTrace) -> int:
    """Return the position of the chosen cell's query, or of the last one there is."""
    return chosen_cell(step_of(trace, "weights"))[0]


def step_by_step(problem: Problem, trace: AttentionTrace) -> None:
    """Draw the stepper, the step's heading, formula, meaning and code (folded), its matrix, and one cell of it."""
    step = STEPS.draw(trace)
    if STEPS.draw_guess(trace, step, chosen_query(trace)):
        return
    words, picture = st.columns([0.8, 1], gap="medium")
    with words:
        show_step_heading(step)
        with st.expander("The PyTorch line"):
            st.code(step.code)
        show_cell(problem, trace, step)
    with picture:
        _step_matrix(problem, trace, step)
        cell_pickers(step)


def _step_matrix(problem: Problem, trace: AttentionTrace, step: Step) -> None:
    key = f"vectors_matrix_{step.name}_{step.shape[0]}_{step.shape[1]}"

    def take_click() -> None:
        for cell in chart_selection(key, "cell"):
            CELL.value |= {row_kind(step): int(cell["row"]), column_kind(step): int(cell["col"])}

    words = f"{step.title}: {step.shape[0]} {step.row_axis.name} by {step.shape[1]} {step.col_axis.name}"
    draw_chart(
        _step_picture(problem, trace, step),
        width="content",
        alt=f"{words}; click a cell for its arithmetic",
        key=key,
        on_select=take_click,
        selection_mode="cell",
    )


def _step_picture(problem: Problem, trace: AttentionTrace, step: Step) -> Chart:
    """Draw the step as a product of two matrices where it is one, else as one."""
    values, (row, column) = to_array(step.value()), chosen_cell(step)
    if of_step := factors(problem, trace, step):
        return product_chart(
            *of_step,
            Factor(step.symbol, values, step.role),
            step.row_axis.labels,
            step.col_axis.labels,
            cell=product_cell(*(factor.values for factor in of_step), *SIZE),
            row=row,
            column=column,
            select="cell",
            title=step.title.lower(),
        )
    return matrix_chart(
        values,
        step.row_axis,
        step.col_axis,
        step.role,
        title=step.title.lower(),
        size=LARGEST_CELL * max(step.shape),
        marked_row=row,
        marked_col=column,
        select="cell",
        font_size=FONT_SIZE,
    )
