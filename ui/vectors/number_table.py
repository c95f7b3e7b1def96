"""A table of numbers to type into, which keeps what was typed when the page is left."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from ui.state import APP, Field, is_mounted, widget_value

BASES: Field[dict[str, pd.DataFrame]] = Field(APP, "tables", dict)
"""Each table as it was before it was typed into."""


def number_table(
    name: str, edition: int, frame: pd.DataFrame, limit: float, on_edit: Callable[[Sequence[Sequence[float]]], None]
) -> None:
    """Draw a table whose cells are numbers up to a limit, in size; what is none stays out.

    Args:
        name: tells it from other tables.
        edition: another one where the numbers have changed, but not here.
        frame: the numbers on arrival.
        limit: the largest number.
        on_edit: gets all rows after each edit.
    """
    key = f"{name}_table_{edition}"
    if not is_mounted(key):  # drawn for the first time, or again after the page was left
        BASES.value[name] = frame
    number = st.column_config.NumberColumn(required=True, min_value=-limit, max_value=limit, format="%.4g", width=52)
    st.data_editor(
        BASES.value[name],
        key=key,
        disabled=["_index"],
        column_config=dict.fromkeys(frame.columns, number) | {"_index": st.column_config.Column(width=48)},
        on_change=take_edits,
        args=(name, key, limit, on_edit),
        width="stretch",
    )


def take_edits(name: str, key: str, limit: float, on_edit: Callable[[Sequence[Sequence[float]]], None]) -> None:
    frame = BASES.value[name].copy()
    for row, cells in widget_value(key)["edited_rows"].items():
        for column, value in cells.items():
            if isinstance(value, int | float) and abs(value) <= limit:
                frame.iloc[int(row), frame.columns.get_loc(column)] = float(value)
    on_edit(frame.to_numpy().tolist())
