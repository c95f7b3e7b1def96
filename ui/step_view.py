"""One step of a trace on one screen: where the query stands, the formula with its numbers, the matrix, the code."""

from __future__ import annotations

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from attention_core.charts import STEP_SIZE, step_chart
from attention_core.explain.arithmetic import cell_formula
from ui.chart import draw_chart
from ui.layout import section


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


def show_matrix(step: Step, head: int, query: int | None, name: str, size: int = STEP_SIZE) -> None:
    """Draw the step's numbers in the form that suits them: a matrix, pictures per dimension, or bars."""
    words = f"{step.title}: {step.shape[0]} {step.row_axis.name} by {step.shape[1]} {step.col_axis.name}"
    chart = step_chart(step, head, query=query, size=size)
    draw_chart(chart, width="content", key=f"{name}_{step.name}", alt=words)
