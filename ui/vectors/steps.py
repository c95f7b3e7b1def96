"""The workbench's middle: one step in words, its matrix or product, one cell's arithmetic, the last change."""

from __future__ import annotations

import altair as alt
import numpy as np
import streamlit as st

from attention_core.attention.steps import steps_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role, Step
from attention_core.charts import matrix_chart, ramp_for, signed_ramp
from attention_core.charts.product import Factor, product_cell, product_chart
from attention_core.device import to_array
from attention_core.topics.vectors import Mode, Problem
from attention_core.topics.vectors.cells import cell_arithmetic, column_kind, row_kind
from ui.layout import section
from ui.vectors.cell_arithmetic import cell_arithmetic_view
from ui.vectors.state import NAME

SIZES = {False: (400, 370), True: (560, 470)}
"""Screen pixels for the matrix, width and height: compact, large type."""


def chosen_cell(step: Step) -> tuple[int, int]:
    """Return the chosen cell of a step: the same query, key and dimension in every step, as far as it has them."""
    held = st.session_state.setdefault(f"{NAME}_cell", {"query": 0, "key": 1, "dimension": 0})
    row, column = held[row_kind(step)], held[column_kind(step)]
    return min(row, step.shape[0] - 1), min(column, step.shape[1] - 1)


def chosen_query(trace: AttentionTrace) -> int:
    """Return the chosen query's position."""
    return min(st.session_state[f"{NAME}_cell"]["query"], trace.n_queries - 1)


def choose_head(n_heads: int) -> int:
    """Draw the heads' names if there are several, and return the chosen head, from 0."""
    if n_heads == 1:
        return 0
    return st.segmented_control(
        "Head",
        range(n_heads),
        format_func=lambda one: f"head {one + 1}",
        key=f"{NAME}_head_{n_heads}",
        default=0,
        required=True,
        label_visibility="collapsed",
    )


def _choose(step_kinds: tuple[str, str], row: int | None, column: int | None) -> None:
    held = st.session_state[f"{NAME}_cell"]
    for kind, value in zip(step_kinds, (row, column), strict=True):
        if value is not None:
            held[kind] = int(value)


def cell_pickers(step: Step) -> None:
    """Draw the chosen cell's row and column as lists, for keyboards and for matrices whose cells are tiny."""
    row, column = chosen_cell(step)
    kinds = (row_kind(step), column_kind(step))
    for place, (axis, now, column_box) in enumerate(
        zip((step.row_axis, step.col_axis), (row, column), st.columns(2, gap="small"), strict=True)
    ):
        key = f"{NAME}_pick_{'row' if place == 0 else 'column'}"
        options = range(len(axis))
        st.session_state[key] = now
        with column_box:
            st.selectbox(
                "Row" if place == 0 else "Column",
                options,
                format_func=lambda one, labels=axis.labels: labels[one] if one < len(labels) else "",
                key=key,
                on_change=_take_pick,
                args=(kinds, place, key),
            )


def _take_pick(kinds: tuple[str, str], place: int, key: str) -> None:
    value = st.session_state[key]
    _choose(kinds, *((value, None) if place == 0 else (None, value)))


def show_step_words(step: Step, with_code: bool = True) -> None:
    """Draw the step's heading, shape, formula, meaning and, if wanted, its code (folded)."""
    section(step.title, step.role)
    rows, cols = step.shape
    st.caption(f"{rows:,} {step.row_axis.name} × {cols:,} {step.col_axis.name}")
    st.markdown(rf"$\displaystyle {step.formula}$")
    st.markdown(step.explanation)
    if with_code:
        with st.expander("The PyTorch line"):
            st.code(step.code)


def show_step_matrix(problem: Problem, trace: AttentionTrace, step: Step, head: int, large: bool) -> None:
    """Draw the step's matrix, as a product of two where it is one and fits; a click chooses a cell."""
    key = f"{NAME}_matrix_{step.name}_{step.shape[0]}_{step.shape[1]}_{int(large)}"
    kinds = (row_kind(step), column_kind(step))
    chart = _step_picture(problem, trace, step, head, large)
    words = f"{step.title}: {step.shape[0]} {step.row_axis.name} by {step.shape[1]} {step.col_axis.name}"
    if max(step.shape) > 64:
        st.altair_chart(chart, width="content", key=key, alt=words)
        return
    st.altair_chart(
        chart,
        width="content",
        key=key,
        alt=f"{words}; click a cell for its arithmetic",
        on_select=lambda: _take_click(key, kinds),
        selection_mode="cell",
    )


def _take_click(key: str, kinds: tuple[str, str]) -> None:
    event = st.session_state.get(key) or {}
    picked = (event.get("selection") or {}).get("cell") or []
    if picked:
        _choose(kinds, picked[0]["row"], picked[0]["col"])


def _step_picture(problem: Problem, trace: AttentionTrace, step: Step, head: int, large: bool) -> alt.TopLevelMixin:
    values = to_array(step.value(head))
    row, column = chosen_cell(step)
    width, height = SIZES[large]
    font = 18 if large else 12
    factors = _factors(problem, trace, step, head)
    if factors is not None:
        left, right = factors
        cell = product_cell(left.values, right.values, width, height, 84 if large else 54)
        if cell is not None:
            result = Factor(step.symbol, values, ramp_for(step.role, values, values.shape[1]), step.role)
            return product_chart(
                left,
                right,
                result,
                step.row_axis.labels,
                step.col_axis.labels,
                cell=cell,
                row=row,
                column=column,
                select="cell",
                title=step.title.lower(),
                font_size=font,
            )
    largest = 84 if large else 54
    size = min(max(width, height) - 60, largest * max(step.shape))
    return matrix_chart(
        values,
        step.row_axis,
        step.col_axis,
        step.role,
        title=step.title.lower(),
        size=max(size, 90),
        marked_row=row,
        marked_col=column,
        select="cell" if max(step.shape) <= 64 else None,
        font_size=font,
    )


def _factors(problem: Problem, trace: AttentionTrace, step: Step, head: int) -> tuple[Factor, Factor] | None:
    """Return the two matrices whose product a step is, or None."""
    tables = problem.tables

    def factor(name: str, values: np.ndarray, role: Role) -> Factor:
        return Factor(name, values, ramp_for(role, values, values.shape[1]), role)

    if step.name in ("query", "key", "value") and problem.mode != Mode.DIRECT:
        source = problem.query_table if step.name == "query" else problem.key_table
        letter, width = f"W_{step.symbol}", step.shape[1]
        part = tables[letter][:, head * width : (head + 1) * width]
        return factor(source, tables[source], Role.INPUT), factor(letter, part, step.role)
    d_k = trace.key.shape[-1]
    if step.name == "scores" and trace.score.stages(d_k)[0].compute.dot_factor(d_k) == 1:
        return (
            factor("Q", to_array(trace.query[head]), Role.QUERY),
            factor("Kᵀ", to_array(trace.key_of(head)).T, Role.KEY),
        )
    if step.name == "context":
        return (
            factor("A", to_array(trace.weights(head)), Role.WEIGHTS),
            factor("V", to_array(trace.value_of(head)), Role.VALUE),
        )
    if step.name == "output":
        heads = np.hstack([to_array(trace.context(one)) for one in range(trace.n_heads)])
        return factor("C", heads, Role.CONTEXT), factor("W_O", tables["W_O"], Role.OUTPUT)
    return None


def show_cell(problem: Problem, trace: AttentionTrace, step: Step, head: int) -> None:
    """Draw the arithmetic of the chosen cell."""
    row, column = chosen_cell(step)
    arithmetic = cell_arithmetic(problem, trace, step, head, row, column)
    if arithmetic is None:
        value = float(step.value(head, [row], [column]))
        st.markdown(f"Row {step.row_axis.labels[row]}, column {column + 1}: **{value:.4g}**, as typed.")
        return
    cell_arithmetic_view(arithmetic, lit=column if step.name == "weights" else None)


def show_change(before: AttentionTrace | None, trace: AttentionTrace, step: Step, head: int) -> None:
    """Draw what the last edit changed in this step."""
    st.markdown("**Since the last edit**")
    if before is None:
        st.caption("Change a number: the difference of every step appears here.")
        return
    old = next((one for one in steps_of(before) if one.name == step.name), None)
    if old is None or old.shape != step.shape or head >= before.n_heads:
        st.caption("The step is new or has another shape than before the edit, so there is no difference to draw.")
        return
    new_values, old_values = to_array(step.value(head)), to_array(old.value(head))
    both = np.isfinite(new_values) & np.isfinite(old_values)
    difference = np.where(both, np.where(both, new_values, 0) - np.where(both, old_values, 0), np.nan)
    opened = int((np.isfinite(new_values) != np.isfinite(old_values)).sum())
    moved = np.abs(np.nan_to_num(difference)) > 1e-12
    if not moved.any() and not opened:
        st.caption(f"{step.title}: nothing changed.")
        return
    ramp = signed_ramp(difference)
    words = f"{int(moved.sum())} of {moved.size} cells changed, the largest by {np.nanmax(np.abs(difference)):.3g}."
    st.caption(words + (f" {opened} were masked or unmasked." if opened else ""))
    size = min(230, 46 * max(step.shape))
    chart = matrix_chart(
        difference, step.row_axis, step.col_axis, Role.SCORES, title="change", size=max(size, 100), ramp=ramp
    )
    st.altair_chart(chart, width="content", key=f"{NAME}_change", alt=f"Change of {step.title.lower()}: {words}")
