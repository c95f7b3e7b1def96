"""What a visitor has set in the workbench, and the problem that it makes."""

import html
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from attention_core import AttentionTrace, Role, Step
from attention_core.attention.scores import SCORES
from attention_core.bounds.harmless import as_markdown
from attention_core.links import pack, unpack
from pages.vectors import problem as core
from ui import state
from ui.computed import cached_computation
from ui.edits import EditList
from ui.layout import role_colour
from ui.player import Stepper

NAME = "vectors"
FIRST = "pairs"
Rows = list[list[float]]
PRESET = state.Field(NAME, "preset", FIRST, address="preset", parse=state.one_of(core.PRESETS))
LOADED = state.Field(NAME, "loaded", "")
"""The preset that was loaded into the tables."""
SETTINGS: dict[str, state.Field] = {
    "scoring": state.Field(NAME, "scoring", "dot", address="scoring", parse=state.one_of(SCORES)),
    "scaled": state.Field(NAME, "scaled", True, address="scale", **state.slugs(**{"sqrt(d_k)": True, "none": False})),
    "temperature": state.Field(NAME, "temperature", 1.0, address="temperature", parse=state.between(0.05, 5.0)),
    "causal": state.Field(NAME, "causal", False, address="mask", **state.slugs(causal=True, none=False)),
    "softmax": state.Field(NAME, "softmax", True, address="softmax"),
    "edges": state.Field[list[int]](NAME, "edges", list, address="edges"),
}


def _packed(tables: Mapping[str, Rows]) -> str:
    """Return tables as a text for links; every number is written as a person would, with all its digits."""
    return pack({name: [[_format_number(value) for value in row] for row in rows] for name, rows in tables.items()})


def _format_number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


CELLS: state.Field[dict[str, Rows]] = state.Field(
    NAME, "cells", dict, address="cells", parse=lambda text: core.linked_tables(unpack(text)), text=_packed
)
EDITION = state.Field(NAME, "edition", 0)
"""Counts the changes that no table made; the tables are drawn anew when it has changed."""
attention = cached_computation()(core.trace_of)
EDITS = EditList(NAME)
CELL: state.Field[dict[str, int]] = state.Field(
    NAME,
    "cell",
    lambda: {"query": 0, "key": 1, "dimension": 0},
    address="cell",
    parse=lambda text: dict(zip(CELL.default, map(state.whole_number, text.split(".")), strict=True)),
    text=lambda cell: state.as_text(list(cell.values())),
)
"""The chosen cell: the same query, key and dimension in every step."""


def row_kind(step: Step) -> str:
    """Return what a step's rows are: "query" or "key"."""
    return "key" if step.name in ("memory", "key", "value") else "query"


def column_kind(step: Step) -> str:
    """Return what a step's columns are: "key", or "dimension" of a vector."""
    return "key" if step.name in ("scores", "scaled", "mask", "weights") else "dimension"


def chosen_cell(step: Step) -> tuple[int, int]:
    cell = CELL.value
    return min(cell[row_kind(step)], step.shape[0] - 1), min(cell[column_kind(step)], step.shape[1] - 1)


STEPS = Stepper(NAME, first=lambda: core.PRESETS[PRESET.value].step)


def choose_preset(name: str) -> None:
    PRESET.value = name
    STEPS.field.value = STEPS.field.default


def load_preset(*, again: bool = False) -> None:
    """Put the chosen preset into the tables and the settings, unless it is there already; `again` = also then."""
    if PRESET.value == LOADED.value and CELLS.has_set_default and not again:
        return
    LOADED.value, CELL.value = PRESET.value, CELL.default
    write_tables(example().tables)
    for name, value in vars(example().settings).items():
        SETTINGS[name].value = list(value) if name == "edges" else value
    fields: list[state.Field[Any]] = [CELLS, CELL, *SETTINGS.values()]
    for field in fields:
        field.set_default(field.value)


def is_edited() -> bool:
    """Return whether tables, settings or weights differ from the example's."""
    initial, present = example().tables, problem_in_tables().tables
    is_same = initial.keys() == present.keys() and all(np.array_equal(initial[name], present[name]) for name in initial)
    is_set = any(field.encode() for field in SETTINGS.values())
    return LOADED.value == PRESET.value and (not is_same or is_set or bool(EDITS.changes))


def example() -> core.Problem:
    """Return the example that was loaded."""
    return core.PRESETS[LOADED.value].problem()


def problem_before() -> core.Problem:
    """Return the example before it moved a vector, under the present settings."""
    return replace(core.PRESETS[LOADED.value].problem_before(), settings=problem_in_tables().settings)


def write_tables(tables: Mapping[str, np.ndarray]) -> None:
    CELLS.value = {name: table.tolist() for name, table in tables.items()}
    EDITION.value += 1


def problem_in_tables() -> core.Problem:
    """Return the problem of the present tables and settings."""
    tables = {name: np.array(rows, dtype=np.float64) for name, rows in CELLS.value.items()}
    settings = core.Settings(**{name: field.value for name, field in SETTINGS.items()})
    return core.Problem(tables, example().labels, settings)


def describe_rows(problem: core.Problem) -> str:
    """Return the labels of a problem's rows as one text: edits belong to rows of these labels."""
    return " ".join((*problem.row_labels(problem.query_table), *problem.row_labels(problem.key_table)))


def edited(problem: core.Problem) -> AttentionTrace:
    """Return a problem's attention with the edits that fit it."""
    plain = attention(problem)
    edits = EDITS.fitting(plain, input_id=describe_rows(problem))
    return attention(problem, edits) if edits else plain


RULES = state.Field(NAME, "rules", False, address="rules")
"""Whether the rules are open."""
ROLES = {"X": Role.INPUT, "Y": Role.INPUT, "Q": Role.QUERY, "K": Role.KEY, "V": Role.VALUE, "O": Role.OUTPUT}
SIZE_WORDS = {
    "n_queries": "Rows that ask",
    "n_keys": "Rows that are asked",
    "d_model": "Columns of X",
    "d_memory": "Columns of Y",
    "d_k": "Columns of queries and keys",
    "d_v": "Columns of values",
}


def rules() -> None:
    """Draw the settings and tables that can be changed, in an expander; nothing while it is closed."""
    folded = state.expander("Change the rules", RULES)
    if not folded.open:
        return
    problem = problem_in_tables()
    with folded:
        with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
            SETTINGS["scoring"].widget(st.selectbox, "Score", list(SCORES), width=140)
            SETTINGS["temperature"].widget(st.slider, "Temperature", 0.05, 5.0, step=0.05, width=180)
            SETTINGS["scaled"].widget(st.toggle, "Divide by √dₖ")
            SETTINGS["causal"].widget(st.toggle, "Look back only")
            SETTINGS["softmax"].widget(st.toggle, "Softmax")
            with st.popover("Size"):
                for size, n in core.sizes_of(problem.tables).items():
                    key, limit = f"vectors_size_{size}", core.MAX_ROWS if size.startswith("n_") else core.MAX_COLUMNS
                    state.set_widget(key, n)
                    st.number_input(SIZE_WORDS[size], 1, limit, key=key, on_change=_on_size)
            if problem.key_table == "X":
                with st.popover("Edges"):
                    pairs = combinations(enumerate(map(as_markdown, problem.row_labels("X")), 1), 2)
                    names = {10 * i + j: f"{first} – {second}" for (i, first), (j, second) in pairs}
                    SETTINGS["edges"].value = [edge for edge in SETTINGS["edges"].value if edge in names]
                    label, pills = "A row then sees itself and its neighbours", partial(st.pills, wrap=True)
                    SETTINGS["edges"].widget(pills, label, [*names], selection_mode="multi", format_func=names.get)
        for name, column in zip(problem.tables, st.columns(len(problem.tables), gap="small"), strict=True):
            with column:
                _draw_table(name, problem)


def _on_size() -> None:
    tables = problem_in_tables().tables
    sizes = {name: int(state.widget_value(f"vectors_size_{name}")) for name in core.sizes_of(tables)}
    resize = {
        name: core.resized(tables[name], sizes[rows], sizes[columns], name.startswith("W"))
        for name, (rows, columns) in core.table_dimensions(tables).items()
    }
    write_tables(resize)


def _draw_table(name: str, problem: core.Problem) -> None:
    table = problem.tables[name]
    shape = f"{table.shape[0]} × {table.shape[1]}"
    st.html(f'<b style="color:{role_colour(ROLES[name[-1]])}">{html.escape(name)}</b> {shape}')
    index = np.arange(1, len(table) + 1).astype(str) if name.startswith("W") else problem.row_labels(name)
    frame = pd.DataFrame(table, index, [str(column + 1) for column in range(table.shape[1])])
    key, largest = f"vectors_{name}_table_{EDITION.value}", core.LARGEST

    def on_rows(rows: Rows) -> None:
        CELLS.value = CELLS.value | {name: rows}

    if not state.is_mounted(key):  # drawn for the first time, or again after the page was left
        BASES.value[name] = frame
    number = st.column_config.NumberColumn(
        required=True, min_value=-largest, max_value=largest, format="%.4g", width=52
    )
    st.data_editor(
        BASES.value[name],
        key=key,
        disabled=["_index"],
        column_config=dict.fromkeys(frame.columns, number) | {"_index": st.column_config.Column(width=48)},
        on_change=on_cells,
        args=(name, key, largest, on_rows),
        width="stretch",
    )


BASES: state.Field[dict[str, pd.DataFrame]] = state.Field(state.APP, "tables", dict)
"""Each table as it was when its editor was drawn first."""


def on_cells(name: str, key: str, largest: float, on_rows: Callable[[Rows], None]) -> None:
    """Hand over a table with the numbers that were typed into it; what is no number or larger in size stays out."""
    frame = BASES.value[name].copy()
    for row, cells in state.widget_value(key)["edited_rows"].items():
        for column, value in cells.items():
            if isinstance(value, int | float) and abs(value) <= largest:
                frame.iloc[int(row), frame.columns.get_loc(column)] = float(value)
    on_rows(frame.to_numpy().tolist())
