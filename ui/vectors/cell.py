"""How one cell of a step came about, and what the last edit changed."""

import html

import numpy as np
import streamlit as st

from attention_core.attention.steps import steps_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role, Step
from attention_core.bounds import as_markdown
from attention_core.charts import matrix_chart, signed_ramp
from attention_core.device import to_array
from attention_core.topics.vectors import Problem
from attention_core.topics.vectors.cells import Arithmetic, cell_arithmetic, column_kind, row_kind
from ui.chart import draw_chart
from ui.layout import role_colour
from ui.state import set_widget, widget_value
from ui.vectors.problem import CELL
from ui.vectors.steps import chosen_cell

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


def show_cell(problem: Problem, trace: AttentionTrace, step: Step, head: int) -> None:
    """Draw the arithmetic of a cell of a step, as rows of numbers above each other."""
    _cell_pickers(step)
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
