"""The table of records: presets, an editor, which column is asked and which is handed over."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from attention_core.topics.lookup.presets import PRESETS
from attention_core.topics.lookup.records import MAX_RECORDS, MAX_TEXT, Table, Usable, usable_records
from ui.state import Field

NAME = "lookup"
KEPT_ROWS = 2000
"""Rows of the editor that are remembered; only MAX_RECORDS of them are looked at."""
SLUGS = {preset.lower().replace(" ", "-"): preset for preset in PRESETS}
PRESET = Field(
    NAME,
    "preset",
    next(iter(PRESETS)),
    address="table",
    parse=SLUGS.__getitem__,
    text=lambda preset: next(slug for slug, name in SLUGS.items() if name == preset),
)
LOADED = Field(NAME, "loaded", "")
"""The preset that the fields below began with."""
ROWS, EDITION, BASE = Field(NAME, "rows", list), Field(NAME, "edition", 0), Field(NAME, "base", list)
KEY, VALUE, QUERIES = Field(NAME, "key", ""), Field(NAME, "value", ""), Field(NAME, "queries", "")
TEMPERATURE, WIDTH = Field(NAME, "temperature", 0.05), Field(NAME, "width", 0.4)
QUERY = Field(NAME, "query", -1)


def record_table() -> Usable:
    """Let a person take a preset, edit its records, and choose which column is asked and which is handed over."""
    if PRESET.value != LOADED.value:
        _load(PRESET.value)
    st.segmented_control(
        "Table",
        list(PRESETS),
        key=PRESET.key,
        required=True,
        persist_state="session",
        label_visibility="collapsed",
        wrap=True,
    )
    preset = PRESETS[PRESET.value]
    columns = preset.table.columns
    st.caption(preset.note)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        for field, words in ((KEY, "Asked (key)"), (VALUE, "Handed over (value)")):
            st.selectbox(words, columns, key=field.key, persist_state="session", on_change=QUERY.forget)
        st.button("Restore", key="lookup_restore", on_click=LOADED.forget, help="The preset as it was.")
    usable = usable_records(Table(columns, preset.table.numeric, _edit(preset.table)), KEY.value, VALUE.value)
    for remark in usable.remarks:
        (st.info if usable.records else st.error)(remark)
    return usable


def _load(name: str) -> None:
    preset = PRESETS[name]
    LOADED.value = name
    ROWS.value = [list(row) for row in preset.table.rows]
    EDITION.value += 1
    KEY.value, VALUE.value, QUERIES.value = preset.key, preset.value, "\n".join(preset.queries)
    numeric = preset.table.numeric[preset.table.columns.index(preset.key)]
    (WIDTH if numeric else TEMPERATURE).value = preset.temperature
    QUERY.forget()


def _edit(table: Table) -> tuple[tuple, ...]:
    """Show the editor; it forgets what was typed when the page is left, so a copy of the rows is kept beside it."""
    key = f"lookup_editor_{EDITION.value}"
    if key not in st.session_state:
        BASE.value = ROWS.value
    base = pd.DataFrame(BASE.value, columns=list(table.columns))
    config = {}
    for column, numeric in zip(table.columns, table.numeric, strict=True):
        base[column] = base[column].astype("float64" if numeric else "object")
        config[column] = (
            st.column_config.NumberColumn(column, format="%.6g")
            if numeric
            else st.column_config.TextColumn(column, max_chars=MAX_TEXT)
        )
    edited = st.data_editor(
        base, key=key, num_rows="dynamic", hide_index=True, height=250, width="stretch", column_config=config
    )
    ROWS.value = edited.astype(object).where(edited.notna(), None).to_numpy().tolist()[:KEPT_ROWS]
    st.caption(f"Click a cell to edit it, add rows at the end, or paste from a spreadsheet; up to {MAX_RECORDS} count.")
    return tuple(map(tuple, ROWS.value))
