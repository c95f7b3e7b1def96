"""The workbench's middle: one step in words, its matrix or product, one cell's arithmetic, the last change."""

import html

import numpy as np
import streamlit as st

from attention_core.attention.harmless import as_markdown
from attention_core.attention.steps import steps_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role, Step
from attention_core.charts import matrix_chart, signed_ramp
from attention_core.charts.design import Chart
from attention_core.device import to_array
from attention_core.topics.vectors import Problem
from attention_core.topics.vectors.cells import Arithmetic, cell_arithmetic, column_kind, factors, row_kind
from attention_core.topics.vectors.product import FONT_SIZE, LARGEST_CELL, Factor, product_cell, product_chart
from ui.chart import draw_chart
from ui.layout import role_colour
from ui.player import describe
from ui.state import Field, choice, selected, set_widget, whole_number, widget_value
from ui.vectors.problem import CELL, NAME

HEAD = Field(NAME, "head", 0, address="head", parse=whole_number)
SIZE = (400, 370)
"""Screen pixels that a product may take, across and down."""
MOST_CLICKED = 64
"""Rows or columns beyond which cells are too small to click."""
MANY = 8
"""Beyond this many numbers the sum stands in front of them, where it is seen without scrolling."""
STYLE = (
    "<style>.cell-arithmetic{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem}"
    ".cell-arithmetic td,.cell-arithmetic th{padding:.12em .6em;text-align:right;white-space:nowrap}"
    ".cell-arithmetic th:first-child{text-align:left;font-weight:600;padding-left:0}"
    ".cell-arithmetic thead th{font-weight:400;opacity:.65}"
    ".cell-arithmetic .last td{border-top:1px solid #8a93a066}"
    ".cell-arithmetic .total{font-weight:700}.cell-arithmetic .lit{background:#8a93a033}</style>"
)


def choose_head(n_heads: int) -> int:
    """Draw the heads' names if there are several, and return the chosen head, from 0."""
    if n_heads == 1:
        return 0
    return choice("Head", HEAD, {head: f"head {head + 1}" for head in range(n_heads)}, label_visibility="collapsed")


def chosen_cell(step: Step) -> tuple[int, int]:
    cell = CELL.value
    return min(cell[row_kind(step)], step.shape[0] - 1), min(cell[column_kind(step)], step.shape[1] - 1)


def show_step(problem: Problem, trace: AttentionTrace, step: Step, head: int) -> None:
    """Draw the step's heading, shape, formula, meaning and code (folded), its matrix, and which cell is chosen."""
    words, picture = st.columns([0.8, 1], gap="medium")
    with words:
        describe(step)
        with st.expander("The PyTorch line"):
            st.code(step.code)
    with picture:
        _step_matrix(problem, trace, step, head)
    _cell_pickers(step)


def _step_matrix(problem: Problem, trace: AttentionTrace, step: Step, head: int) -> None:
    chart = _step_picture(problem, trace, step, head)
    words = f"{step.title}: {step.shape[0]} {step.row_axis.name} by {step.shape[1]} {step.col_axis.name}"
    key, clicks = f"vectors_matrix_{step.name}_{step.shape[0]}_{step.shape[1]}", {}

    def take_click() -> None:
        for cell in selected(key, "cell"):
            CELL.value |= {row_kind(step): int(cell["row"]), column_kind(step): int(cell["col"])}

    if max(step.shape) <= MOST_CLICKED:
        clicks = {"key": key, "on_select": take_click, "selection_mode": "cell"}
        words += "; click a cell for its arithmetic"
    draw_chart(chart, width="content", alt=words, **clicks)


def _cell_pickers(step: Step) -> None:
    """Draw the chosen cell's row and column as lists, for keyboards and for matrices whose cells are tiny."""
    axes = (("Row", step.row_axis, row_kind(step)), ("Column", step.col_axis, column_kind(step)))
    for (label, axis, kind), now, column in zip(axes, chosen_cell(step), st.columns(2, gap="small"), strict=True):
        key = f"vectors_pick_{label.lower()}"
        set_widget(key, now)
        column.selectbox(
            label,
            range(len(axis)),
            format_func=lambda place, labels=axis.labels: labels[place] if place < len(labels) else "",
            key=key,
            on_change=_take_pick,
            args=(kind, key),
        )


def _take_pick(kind: str, key: str) -> None:
    CELL.value |= {kind: widget_value(key)}


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
        select="cell" if max(step.shape) <= MOST_CLICKED else None,
        font_size=FONT_SIZE,
    )


def show_cell(problem: Problem, trace: AttentionTrace, step: Step, head: int) -> None:
    """Draw the arithmetic of the chosen cell as rows of numbers above each other."""
    row, column = chosen_cell(step)
    arithmetic = cell_arithmetic(problem, trace, step, head, row, column)
    if arithmetic is None:
        value = float(step.value(head, [row], [column]))
        st.markdown(f"Row {as_markdown(step.row_axis.labels[row])}, column {column + 1}: **{value:.4g}**, as typed.")
        return
    st.markdown(f"**{as_markdown(arithmetic.headline)}**")
    if arithmetic.lines:
        _arithmetic_table(arithmetic, column if step.name == "weights" else None)
    st.markdown(rf"$\displaystyle {arithmetic.result}$")


def _arithmetic_table(arithmetic: Arithmetic, lit: int | None) -> None:

    def in_order(head: str, numbers: list[str], total: str) -> str:
        return head + "".join([total, *numbers] if len(numbers) > MANY else [*numbers, total])

    columns = arithmetic.columns or map(str, range(1, len(arithmetic.lines[0].values) + 1))
    names = [f"<th>{html.escape(name[:14])}</th>" for name in columns]
    rows = f"<thead><tr>{in_order('<th></th>', names, '<th>sum</th>')}</tr></thead>"
    for line in arithmetic.lines:
        last = line is arithmetic.lines[-1]
        head = f'<th style="color:{role_colour(line.role)}">{html.escape(line.label)}</th>'
        numbers = [
            f'<td class="{"lit" if place == lit else ""}">{_number(value)}</td>'
            for place, value in enumerate(line.values)
        ]
        total = f'<td class="total">= {_number(arithmetic.total)}</td>' if last else "<td></td>"
        rows += f'<tr class="{"last" if last else ""}">{in_order(head, numbers, total)}</tr>'
    st.html(f'{STYLE}<div style="overflow-x:auto"><table class="cell-arithmetic">{rows}</table></div>')


def _number(value: float) -> str:
    return f"{value:.4g}" if np.isfinite(value) else "-∞" if value < 0 else "∞"


def show_change(before: AttentionTrace | None, step: Step, head: int) -> None:
    """Draw what the last edit changed in this step."""
    st.markdown("**Since the last edit**")
    if before is None:
        st.caption("Change a number, and see here what that changes in the chosen step.")
        return
    old = next((other for other in steps_of(before) if other.name == step.name), None)
    if old is None or old.shape != step.shape or head >= before.n_heads:
        st.caption("The step is new or has another shape than before the edit, so there is no difference to draw.")
        return
    new, earlier = to_array(step.value(head)), to_array(old.value(head))
    is_there, was_there = np.isfinite(new), np.isfinite(earlier)
    difference = np.subtract(new, earlier, where=is_there & was_there, out=np.full(new.shape, np.nan))
    opened = int((is_there != was_there).sum())
    moved = np.abs(np.nan_to_num(difference)) > 1e-12
    if not moved.any() and not opened:
        st.caption(f"{step.title}: nothing changed.")
        return
    words = f"{int(moved.sum())} of {moved.size} cells changed, the largest by {np.nanmax(np.abs(difference)):.3g}."
    st.caption(words + (f" {opened} were masked or unmasked." if opened else ""))
    chart = matrix_chart(
        difference,
        step.row_axis,
        step.col_axis,
        Role.SCORES,
        title="change",
        size=max(100, min(230, 46 * max(step.shape))),
        ramp=signed_ramp(difference),
    )
    draw_chart(chart, width="content", key="vectors_change", alt=f"Change of {step.title.lower()}: {words}")
