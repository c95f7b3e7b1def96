"""Change the rules: tables to type into, their sizes, and how scores become weights."""

import html
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
import streamlit as st

from attention_core.attention.scores import SCORES
from attention_core.attention.types import Role
from attention_core.bounds import as_markdown
from attention_core.topics.vectors.problem import (
    LARGEST,
    MAX_COLUMNS,
    MAX_ROWS,
    Problem,
    resized,
    sizes_of,
    table_dimensions,
)
from ui.layout import role_colour
from ui.state import Field, expander, multiple_choice, set_widget, widget_value
from ui.vectors.number_table import number_table
from ui.vectors.problem import CELLS, EDITION, NAME, SETTINGS, Rows, typed_problem, write_tables

RULES = Field(NAME, "rules", False, address="rules")
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
    """Draw everything that can be changed; nothing of it is drawn while it is closed."""
    folded = expander("Change the rules", RULES)
    if not folded.open:
        return
    problem = typed_problem()
    with folded:
        with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
            SETTINGS["scoring"].widget(st.selectbox, "Score", list(SCORES), width=140)
            SETTINGS["temperature"].widget(st.slider, "Temperature", 0.05, 5.0, step=0.05, width=180)
            SETTINGS["scaled"].widget(st.toggle, "Divide by √dₖ")
            SETTINGS["causal"].widget(st.toggle, "Look back only")
            SETTINGS["softmax"].widget(st.toggle, "Softmax")
            with st.popover("Size"):
                _sizes(problem)
            if problem.key_table == "X":
                with st.popover("Edges"):
                    _edges(problem.row_labels("X"))
        for name, place in zip(problem.tables, st.columns(len(problem.tables), gap="small"), strict=True):
            with place:
                _table(name, problem)


def _sizes(problem: Problem) -> None:
    for name, size in sizes_of(problem.tables).items():
        key, most = f"vectors_size_{name}", MAX_ROWS if name.startswith("n_") else MAX_COLUMNS
        set_widget(key, size)
        st.number_input(SIZE_WORDS[name], 1, most, key=key, on_change=_take_sizes)


def _edges(nodes: Sequence[str]) -> None:
    pairs = combinations(enumerate(map(as_markdown, nodes), 1), 2)
    names = {10 * first + second: f"{one} – {other}" for (first, one), (second, other) in pairs}
    multiple_choice("A row then sees itself and its neighbours", SETTINGS["edges"], names)


def _take_sizes() -> None:
    tables = typed_problem().tables
    wanted = {name: int(widget_value(f"vectors_size_{name}")) for name in sizes_of(tables)}
    resize = {
        name: resized(tables[name], wanted[rows], wanted[columns], name.startswith("W"))
        for name, (rows, columns) in table_dimensions(tables).items()
    }
    write_tables(resize)


def _table(name: str, problem: Problem) -> None:
    table = problem.tables[name]
    shape = f"{table.shape[0]} × {table.shape[1]}"
    st.html(f'<b style="color:{role_colour(ROLES[name[-1]])}">{html.escape(name)}</b> {shape}')
    index = np.arange(1, len(table) + 1).astype(str) if name.startswith("W") else problem.row_labels(name)
    frame = pd.DataFrame(table, index, [str(column + 1) for column in range(table.shape[1])])

    def take(rows: Rows) -> None:
        CELLS.value = CELLS.value | {name: rows}

    number_table(f"vectors_{name}", EDITION.value, frame, LARGEST, take)
