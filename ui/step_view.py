"""One step of a trace on one screen: where the query stands, the formula with its numbers, the matrix, the code."""

from __future__ import annotations

import altair as alt
import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role, Step
from attention_core.charts import contact_sheet, matrix_chart, probability_bars, ramp_for
from attention_core.charts.palette import INK_RAMP
from attention_core.charts.picture import picture
from attention_core.device import to_array
from attention_core.explain.arithmetic import cell_formula
from ui.layout import section

MATRIX_SIZE = 500


def show_words(trace: AttentionTrace, step: Step, head: int, query: int, key: int, numbers: str | None = None) -> None:
    """Draw the step's heading, shape, formula, meaning, the numbers of one cell, and its code (folded)."""
    section(step.title, step.role)
    rows, cols = step.shape
    st.caption(f"{counted(rows, step.row_axis.name)} × {counted(cols, step.col_axis.name)}")
    st.latex(step.formula)
    st.markdown(step.explanation)
    numbers = numbers or cell_formula(trace, step, head, query, key)
    if numbers:
        st.latex(numbers)
    with st.expander("The PyTorch line"):
        st.code(step.code)


def counted(n: int, name: str) -> str:
    """Return a number with what it counts, "1 query" or "225 regions"."""
    one = f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")
    return f"{n:,} {one if n == 1 else name}"


def show_matrix(step: Step, head: int, query: int, name: str, size: int = MATRIX_SIZE) -> None:
    """Draw the step's numbers in the form that suits them: a matrix, pictures per dimension, or bars."""
    values = to_array(step.value(head).float())
    words = f"{step.title}: {step.shape[0]} {step.row_axis.name} by {step.shape[1]} {step.col_axis.name}"
    st.altair_chart(step_chart_for(step, values, query, size), width="content", key=f"{name}_{step.name}", alt=words)


def step_chart_for(step: Step, values: np.ndarray, query: int, size: int) -> alt.TopLevelMixin:
    """Return the chart that suits a step: positions of a picture become pictures, classes become bars."""
    grid = step.row_axis.grid
    if step.role == Role.OUTPUT and values.shape[0] == 1:
        return probability_bars({step.title.lower(): values[0]}, list(step.col_axis.labels), height=260).properties(
            width=size - 60
        )
    if grid and step.col_axis.grid is None:
        if step.role == Role.INPUT and values.shape[1] == 1:
            return picture(values[:, 0].reshape(grid), INK_RAMP, title="ink", size=size - 120, marked=query)
        pictures = values.T.reshape(-1, *grid)
        ramp = ramp_for(step.role, values, len(step.col_axis))
        columns = 4 if len(pictures) <= 16 else 8
        side = (size - 10 * columns) // columns
        labels = [f"{step.symbol[0]}[:, {number}]" for number in range(len(pictures))]
        return contact_sheet(pictures, labels, ramp, title=step.title.lower(), columns=columns, size=side, marked=query)
    marked = query if len(step.row_axis) > 1 else None
    return matrix_chart(
        values, step.row_axis, step.col_axis, step.role, title=step.title.lower(), size=size, marked_row=marked
    )
