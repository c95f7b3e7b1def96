"""Step by step: a step in words, and its matrix or product."""

import streamlit as st

from attention_core.attention.steps import step_of, steps_of
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
from ui.state import Field, chart_selection, single_choice, whole_number
from ui.vectors.problem import CELL, NAME, STEPS

HEAD = Field(NAME, "head", 0, address="head", parse=whole_number)
SIZE = (560, 370)
"""Screen pixels that a product may take, across and down."""
MAX_CLICKED = 64
"""Rows or columns beyond which cells are too small to click."""


def chosen_query(trace: AttentionTrace) -> int:
    """Return the position of the chosen cell's query, or of the last one there is."""
    return min(CELL.value["query"], trace.n_queries - 1)


def chosen_cell(step: Step) -> tuple[int, int]:
    cell = CELL.value
    return min(cell[row_kind(step)], step.shape[0] - 1), min(cell[column_kind(step)], step.shape[1] - 1)


def chosen_step(trace: AttentionTrace) -> Step:
    """Return the step of the stepper; where the trace has it no longer, its scores."""
    return next((step for step in steps_of(trace) if step.name == STEPS.field.value), step_of(trace, "scores"))


def step_by_step(problem: Problem, trace: AttentionTrace) -> None:
    """Draw the stepper, the step's heading, formula, meaning and code (folded), and its matrix."""
    step = STEPS.draw(trace)
    if trace.n_heads > 1:
        names = {head: f"head {head + 1}" for head in range(trace.n_heads)}
        single_choice("Head", HEAD, names, label_visibility="collapsed")
    head = HEAD.value
    if trace.blind_queries:
        names = ", ".join(trace.story.query_axis.labels[query] for query in trace.blind_queries)
        st.warning(f"{names} may see no key, so the weights and the context are zeros, not NaN.")
    if STEPS.draw_guess(trace, step, chosen_query(trace), head):
        return
    words, picture = st.columns([0.8, 1], gap="medium")
    with words:
        show_step_heading(step)
        with st.expander("The PyTorch line"):
            st.code(step.code)
    with picture:
        _step_matrix(problem, trace, step, head)


def _step_matrix(problem: Problem, trace: AttentionTrace, step: Step, head: int) -> None:
    chart = _step_picture(problem, trace, step, head)
    words = f"{step.title}: {step.shape[0]} {step.row_axis.name} by {step.shape[1]} {step.col_axis.name}"
    key, clicks = f"vectors_matrix_{step.name}_{step.shape[0]}_{step.shape[1]}", {}

    def take_click() -> None:
        for cell in chart_selection(key, "cell"):
            CELL.value |= {row_kind(step): int(cell["row"]), column_kind(step): int(cell["col"])}

    if max(step.shape) <= MAX_CLICKED:
        clicks = {"key": key, "on_select": take_click, "selection_mode": "cell"}
        words += "; click a cell for its arithmetic"
    draw_chart(chart, width="content", alt=words, **clicks)


def _step_picture(problem: Problem, trace: AttentionTrace, step: Step, head: int) -> Chart:
    """Draw the step as a product of two matrices where it is one and fits, else as one."""
    values, (row, column) = to_array(step.value(head)), chosen_cell(step)
    factors_of_step = factors(problem, trace, step, head)
    cell = factors_of_step and product_cell(*(factor.values for factor in factors_of_step), *SIZE)
    if factors_of_step and cell:
        return product_chart(
            *factors_of_step,
            Factor(step.symbol, values, step.role),
            step.row_axis.labels,
            step.col_axis.labels,
            cell=cell,
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
        size=max(90, min(max(SIZE) - 60, LARGEST_CELL * max(step.shape))),
        marked_row=row,
        marked_col=column,
        select="cell" if max(step.shape) <= MAX_CLICKED else None,
        font_size=FONT_SIZE,
    )
