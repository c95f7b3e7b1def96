"""What if softmax were off, or another rule changed? Score, temperature, mask, sizes and every number are changed."""

import html
from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import streamlit as st

from attention_core import Role
from attention_core.attention.scores import SCORES
from attention_core.attention.wording import percent
from attention_core.bounds.harmless import as_markdown
from pages.vectors import problem as core
from pages.vectors.inputs import Workbench, draw_workbench
from pages.vectors.tables import CELLS, EDITION, SETTINGS, Rows, problem_in_tables, write_tables
from ui import state
from ui.labels import number
from ui.layout import role_colour

ROLES = {"X": Role.INPUT, "Y": Role.INPUT, "Q": Role.QUERY, "K": Role.KEY, "V": Role.VALUE, "O": Role.OUTPUT}
SIZE_WORDS = {
    "n_queries": "Rows that ask",
    "n_keys": "Rows that are asked",
    "d_model": "Columns of X",
    "d_memory": "Columns of Y",
    "d_k": "Columns of queries and keys",
    "d_v": "Columns of values",
}


def draw_input() -> Workbench:
    """Draw the example, its arrows, and the rules; return the problem."""
    bench = draw_workbench()
    sizes, problem = core.sizes_of(bench.problem.tables), bench.problem
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        SETTINGS["scoring"].widget(st.selectbox, "Score", list(SCORES), width=140)
        SETTINGS["temperature"].widget(st.slider, "Temperature", 0.05, 5.0, step=0.05, width=180)
        SETTINGS["scaled"].widget(st.toggle, "Divide by √dₖ")
        SETTINGS["causal"].widget(st.toggle, "Look back only")
        SETTINGS["softmax"].widget(st.toggle, "Softmax")
        with st.popover("Size"):
            for size, n in sizes.items():
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
    return bench


def answer(bench: Workbench) -> str:
    """Say what the chosen query takes by these rules."""
    weights = bench.trace.weights(0, [bench.query])[0].tolist()
    shares = [percent(weight) if bench.trace.has_softmax else number(weight, ".3g") for weight in weights]
    return f"By these rules, {as_markdown(bench.label)} takes {', '.join(shares)}."


def draw(bench: Workbench) -> None:
    """Draw the tables, in which numbers can be typed."""
    tables = bench.problem.tables
    with st.container(key="desk_vectors_tables"):
        for name, column in zip(tables, st.columns(len(tables), gap="small"), strict=True):
            with column:
                _draw_table(name, bench.problem)
    bench.draw_pairs()


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
    numbers = st.column_config.NumberColumn(
        required=True, min_value=-largest, max_value=largest, format="%.4g", width=52
    )
    st.data_editor(
        BASES.value[name],
        key=key,
        disabled=["_index"],
        column_config=dict.fromkeys(frame.columns, numbers) | {"_index": st.column_config.Column(width=48)},
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
