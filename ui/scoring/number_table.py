"""A table of numbers that a person types into and that forgets nothing when the page is left."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

Rows = list[list[float]]


def number_table(
    name: str,
    rows: Rows,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    *,
    limit: float,
    version: int,
    on_edit: Callable[[Rows], None],
) -> None:
    """Draw the table; what is typed goes to on_edit if every cell is a number within the limit.

    A cell that is no such number is named below the table and everything else stays as it was.

    Args:
        name: prefix of its state.
        rows: the present numbers.
        row_labels: one text per row.
        col_labels: one text per column.
        limit: the largest absolute value.
        version: counts changes that were not typed here; the table is drawn anew when it changes.
        on_edit: gets the whole table after each edit.
    """
    state = st.session_state
    key = f"{name}_table_{version}"
    if key not in state:  # drawn for the first time, or again after the page was left
        state[f"{name}_base"] = rows
        state[f"{name}_problem"] = ""
    base = state[f"{name}_base"]
    columns = list(col_labels)
    frame = pd.DataFrame(base, columns=columns, dtype=float)
    frame.insert(0, "", list(row_labels))
    number = st.column_config.NumberColumn(min_value=-limit, max_value=limit, step=None, format="%.3g", width="small")
    st.data_editor(
        frame,
        key=key,
        hide_index=True,
        disabled=[""],
        column_config={"": st.column_config.TextColumn(width="small"), **dict.fromkeys(columns, number)},
        on_change=_take,
        args=(name, key, columns, list(row_labels), limit, on_edit),
        width="stretch",
    )
    if state[f"{name}_problem"]:
        st.warning(state[f"{name}_problem"])


def _take(
    name: str, key: str, columns: list[str], row_labels: list[str], limit: float, on_edit: Callable[[Rows], None]
) -> None:
    """Lay the edits over the table as it was drawn, and pass it on if it is sound."""
    state = st.session_state
    rows = [list(row) for row in state[f"{name}_base"]]
    problems = []
    for row, cells in state[key]["edited_rows"].items():
        for column, value in cells.items():
            problem = _problem(value, limit)
            if problem:
                problems.append(f"{row_labels[int(row)]}, {column}: {problem}")
            else:
                rows[int(row)][columns.index(column)] = float(value)
    kept = " The number that was there is still used." if problems else ""
    state[f"{name}_problem"] = "; ".join(problems) + kept
    on_edit(rows)


def _problem(value: object, limit: float) -> str:
    if value is None:
        return "a number is needed, the cell is empty."
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"a number is needed, got {value!r}."
    if not math.isfinite(value):
        return f"a finite number is needed, got {value}."
    if abs(value) > limit:
        return f"numbers go from −{limit:g} to {limit:g} here, got {value:g}."
    return ""
