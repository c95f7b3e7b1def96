"""The records to look up in: a table to begin with, and what a visitor makes of it."""

from typing import NamedTuple

import pandas as pd
import streamlit as st

from attention_core.packed import pack, unpack
from attention_core.topics.lookup.records import (
    MAX_RECORDS,
    MAX_TEXT,
    PRESETS,
    LookupPreset,
    QueryTable,
    Records,
    Table,
    read_queries,
    usable_records,
)
from ui.inside_streamlit import growing_table
from ui.state import Field, address_followed, is_mounted, one_of, single_choice, whole_number

NAME = "lookup"
WAYS = ("spelling", "meaning")
BY = Field(NAME, "by", WAYS[0], address="by", parse=one_of(WAYS))
KEPT_ROWS = 2000  # rows of the editor that are remembered; only MAX_RECORDS of them are looked at
SLUGS = {preset.lower().replace(" ", "-"): preset for preset in PRESETS}
FIRST_TABLE, FORMERLY_FIRST = next(iter(PRESETS)), "Papers"


def _table_on_arrival() -> str:
    """Return the first table; the papers for what is set without one, as links had it when those came first."""
    asked, _ = address_followed()
    is_here = is_mounted(f"{NAME}_preset")
    is_set = any(field.address in asked or (is_here and field.encode()) for field in OF_TABLE)
    return FORMERLY_FIRST if is_set else FIRST_TABLE


PRESET = Field(
    NAME,
    "preset",
    _table_on_arrival,
    address="table",
    parse=(SLUGS | {"what-a-paper-says": FORMERLY_FIRST}).__getitem__,
    text=lambda preset: next(slug for slug, name in SLUGS.items() if name == preset),
)
LOADED = Field(NAME, "loaded", "")  # the preset that the fields below began with
EDITION, BASE = Field(NAME, "edition", 0), Field(NAME, "base", list)
ROWS = Field(NAME, "rows", list, address="rows", parse=lambda text: _fitting(unpack(text)), text=pack)
KEY = Field(
    NAME,
    "key",
    list,
    address="key",
    parse=lambda text: [_table().columns[place] for place in dict.fromkeys(map(whole_number, text.split(".")))],
    text=lambda columns: ".".join(str(_table().columns.index(column)) for column in columns),
)
"""Its columns; several make one text."""
VALUE = Field(
    NAME,
    "value",
    "",
    address="value",
    parse=lambda text: _table().columns[whole_number(text)],
    text=lambda column: str(_table().columns.index(column)),
)
QUERIES = Field(NAME, "queries", "", address="q")
"""What is asked, one query a line."""
QUERY = Field(NAME, "query", 0, address="query", parse=whole_number)
TEMPERATURES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)
WIDTHS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
TEMPERATURE = Field(NAME, "temperature", 0.05, address="temperature", parse=one_of(TEMPERATURES))
WIDTH = Field(NAME, "width", 0.4, address="width", parse=one_of(WIDTHS))
OF_TABLE = (ROWS, KEY, VALUE, QUERIES, QUERY, TEMPERATURE, WIDTH, BY)


class Asked(NamedTuple):
    """What is looked up, and in what."""

    records: Records
    queries: tuple[str, ...] | tuple[float, ...]  # at least one
    remarks: tuple[str, ...]  # what was left out or changed
    is_present: bool  # False: nothing of what a visitor gave can be used, and this is the table as it comes


def chosen_table() -> LookupPreset:
    """Return the table that a visitor has chosen, with all that it brings set once."""
    if PRESET.value != LOADED.value or not ROWS.is_preset:
        _load(PRESET.value)
    return PRESETS[PRESET.value]


def asked_now(preset: LookupPreset) -> Asked:
    """Return the records and queries as a visitor has left them, or those of the table where nothing is left."""
    table = Table(preset.table.columns, preset.table.numeric, tuple(map(tuple, ROWS.value)))
    usable = usable_records(table, KEY.value, VALUE.value)
    numeric = usable.records.numeric_keys if usable.records else False
    asked = read_queries(QUERIES.value, numeric) if usable.records else QueryTable(())
    remarks = (*usable.remarks, *asked.remarks)
    if usable.records and asked.queries:
        return Asked(usable.records, asked.queries, remarks, True)
    records = usable_records(preset.table, preset.key, preset.value).records
    assert records is not None  # every table that comes along can be used
    return Asked(records, read_queries("\n".join(preset.queries), records.numeric_keys).queries, remarks, False)


def _load(name: str) -> None:
    preset = PRESETS[name]
    LOADED.value = name
    EDITION.value += 1
    ROWS.preset([list(row) for row in preset.table.rows])
    KEY.preset(list(preset.key))
    VALUE.preset(preset.value)
    QUERIES.preset("\n".join(preset.queries))
    BY.preset(preset.by)
    numeric = preset.table.numeric[preset.table.columns.index(preset.key[0])]
    (WIDTH if numeric else TEMPERATURE).preset(preset.temperature)
    QUERY.preset(QUERY.default)


def _table() -> Table:
    return PRESETS[PRESET.value].table


def _fitting(rows: list[list]) -> list[list]:
    """Return rows of a link as the table has them; ValueError = they are another table's, or none."""
    numeric = _table().numeric
    if not isinstance(rows, list) or len(rows) > KEPT_ROWS:
        raise ValueError(f"there must be at most {KEPT_ROWS} rows")
    for row in rows:
        for cell, is_number in zip(row, numeric, strict=True):
            if cell is not None and not isinstance(cell, int | float if is_number else str):
                raise ValueError("a cell must be of its column's kind")
    return rows


def choose_table() -> None:
    """Draw the tables that come along."""
    single_choice("Table", PRESET, list(PRESETS), label_visibility="collapsed", wrap=True)


def edit_table(preset: LookupPreset) -> None:
    """Let a visitor edit the records, and choose which column is asked and which is handed over.

    Once they are others, the whole page runs again.
    """
    before = ROWS.value, KEY.value, VALUE.value
    columns = preset.table.columns
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        more = {"persist_state": "session", "on_change": QUERY.reset}
        st.multiselect("Asked (key)", columns, key=KEY.key, placeholder="Choose columns", **more)
        st.selectbox("Handed over (value)", columns, key=VALUE.key, **more)
        st.button("Restore", key="lookup_restore", on_click=LOADED.reset)
    _edit(preset.table)
    if before != (ROWS.value, KEY.value, VALUE.value) or PRESET.value != LOADED.value:
        st.rerun()


def _edit(table: Table) -> None:
    """Show the editor; it forgets what was typed when the page is left, so a copy of the rows is kept beside it."""
    key = f"lookup_editor_{EDITION.value}"
    if not is_mounted(key):
        BASE.value = ROWS.value
    base = pd.DataFrame(BASE.value, columns=list(table.columns))
    config = {}
    for column, numeric in zip(table.columns, table.numeric, strict=True):
        base[column] = base[column].astype("float64" if numeric else "object")
        config[column] = (
            st.column_config.NumberColumn(column, format="%.6g", width=70)
            if numeric
            else st.column_config.TextColumn(column, max_chars=MAX_TEXT)
        )
    with growing_table():
        edited = st.data_editor(
            base, key=key, num_rows="dynamic", hide_index=True, height=300, width="stretch", column_config=config
        )
    ROWS.value = edited.astype(object).where(edited.notna(), None).to_numpy().tolist()[:KEPT_ROWS]
    st.caption(f"Click a cell to edit it, or paste from a spreadsheet. The first {MAX_RECORDS} rows are used.")
