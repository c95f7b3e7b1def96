"""The table of records of the look-up page: presets, an editor, which column is asked and which is handed over."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from attention_core.topics.lookup.presets import PRESETS
from attention_core.topics.lookup.records import MAX_RECORDS, MAX_TEXT, Table, Usable, usable_records

KEPT_ROWS = 2000
"""Rows of the editor that are remembered; only MAX_RECORDS of them are looked at."""


def record_table(name: str) -> Usable:
    """Let a person take a preset, edit its records, and choose which column is asked and which is handed over."""
    state = st.session_state
    if f"{name}_rows" not in state:
        asked = st.query_params.get("table", "")
        _load(name, next((one for one in PRESETS if _slug(one) == asked), next(iter(PRESETS))))
    st.segmented_control(
        "Table",
        list(PRESETS),
        key=f"{name}_preset",
        required=True,
        persist_state="session",
        on_change=_load,
        args=(name, None),
        label_visibility="collapsed",
        wrap=True,
    )
    preset = PRESETS[state[f"{name}_preset"]]
    table = preset.table
    st.caption(preset.note)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        for role, words in (("key", "Asked (key)"), ("value", "Handed over (value)")):
            st.selectbox(
                words, table.columns, key=f"{name}_{role}", persist_state="session", on_change=forget_query(name)
            )
        st.button("Restore", key=f"{name}_restore", on_click=_load, args=(name, None), help="The preset as it was.")
    rows = _edit(name, table)
    usable = usable_records(Table(table.columns, table.numeric, rows), state[f"{name}_key"], state[f"{name}_value"])
    for remark in usable.remarks:
        (st.info if usable.records else st.error)(remark)
    return usable


def forget_query(name: str) -> Callable[[], None]:
    """Return a callback after which the chosen query is chosen anew."""
    return lambda: st.session_state.pop(f"{name}_query", None)


def _slug(preset: str) -> str:
    return preset.lower().replace(" ", "-")


def _load(name: str, preset: str | None) -> None:
    state = st.session_state
    preset = preset or state[f"{name}_preset"]
    chosen = PRESETS[preset]
    state[f"{name}_preset"] = preset
    state[f"{name}_rows"] = [list(row) for row in chosen.table.rows]
    state[f"{name}_edition"] = state.get(f"{name}_edition", 0) + 1
    state[f"{name}_key"], state[f"{name}_value"] = chosen.key, chosen.value
    state[f"{name}_queries"] = "\n".join(chosen.queries)
    numeric = chosen.table.numeric[chosen.table.columns.index(chosen.key)]
    state[f"{name}_{'width' if numeric else 'temperature'}"] = chosen.temperature
    state.pop(f"{name}_query", None)
    st.query_params["table"] = _slug(preset)


def _edit(name: str, table: Table) -> tuple[tuple, ...]:
    """Show the editor; it forgets what was typed when the page is left, so a copy of the rows is kept beside it."""
    state = st.session_state
    key = f"{name}_editor_{state[f'{name}_edition']}"
    if key not in state:
        state[f"{name}_base"] = state[f"{name}_rows"]
    base = pd.DataFrame(state[f"{name}_base"], columns=list(table.columns))
    config = {}
    for column, numeric in zip(table.columns, table.numeric, strict=True):
        base[column] = base[column].astype("float64" if numeric else "object")
        config[column] = (
            st.column_config.NumberColumn(column, format="%.6g")
            if numeric
            else st.column_config.TextColumn(column, max_chars=MAX_TEXT)
        )
    edited = st.data_editor(
        base,
        key=key,
        num_rows="dynamic",
        hide_index=True,
        height=250,
        width="stretch",
        column_config=config,
    )
    rows = edited.astype(object).where(edited.notna(), None).to_numpy().tolist()[:KEPT_ROWS]
    state[f"{name}_rows"] = rows
    st.caption(f"Click a cell to edit it, add rows at the end, or paste from a spreadsheet; up to {MAX_RECORDS} count.")
    return tuple(tuple(row) for row in rows)
