"""How one cell of a step came about."""

import html

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from attention_core.topics.vectors import Problem
from attention_core.topics.vectors.cells import Arithmetic, cell_arithmetic, column_kind, row_kind
from ui.layout import role_colour
from ui.state import set_widget, widget_value
from ui.vectors.problem import CELL


def chosen_cell(step: Step) -> tuple[int, int]:
    cell = CELL.value
    return min(cell[row_kind(step)], step.shape[0] - 1), min(cell[column_kind(step)], step.shape[1] - 1)


def cell_pickers(step: Step) -> None:
    """Draw the chosen cell's row and column as lists, for keyboards."""
    axes = (("Row", step.row_axis, row_kind(step)), ("Column", step.col_axis, column_kind(step)))
    for (label, axis, kind), now, place in zip(axes, chosen_cell(step), st.columns(2, gap="small"), strict=True):
        key = f"vectors_pick_{label.lower()}"
        set_widget(key, now)
        place.selectbox(
            label,
            range(len(axis)),
            format_func=axis.labels.__getitem__,
            key=key,
            on_change=_take_pick,
            args=(kind, key),
        )


def _take_pick(kind: str, key: str) -> None:
    CELL.value |= {kind: widget_value(key)}


def show_cell(problem: Problem, trace: AttentionTrace, step: Step) -> None:
    """Draw the arithmetic of the chosen cell of a step, as rows of numbers above each other."""
    row, column = chosen_cell(step)
    arithmetic = cell_arithmetic(problem, trace, step, row, column)
    if arithmetic is None:
        return
    rows = _rows(arithmetic, column if step.name == "weights" else None) if arithmetic.lines else ""
    title = f"<caption>{html.escape(arithmetic.headline)}</caption>"
    st.html(f'<div style="overflow-x:auto"><table class="cell-arithmetic">{title}{rows}</table></div>')
    st.markdown(rf"$\displaystyle {arithmetic.result}$")


def _rows(arithmetic: Arithmetic, lit: int | None) -> str:
    columns = arithmetic.columns or map(str, range(1, len(arithmetic.lines[0].values) + 1))
    names = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    rows = f"<thead><tr><th></th>{names}<th>sum</th></tr></thead>"
    for line in arithmetic.lines:
        last = line is arithmetic.lines[-1]
        numbers = "".join(
            f'<td class="{"lit" if place == lit else ""}">{_number(value)}</td>'
            for place, value in enumerate(line.values)
        )
        total = f"= {_number(arithmetic.total)}" if last else ""
        rows += (
            f'<tr class="{"last" if last else ""}"><th style="color:{role_colour(line.role)}">'
            f"{html.escape(line.label)}</th>{numbers}<td>{total}</td></tr>"
        )
    return rows


def _number(value: float) -> str:
    return f"{value:.4g}" if np.isfinite(value) else "-∞"
