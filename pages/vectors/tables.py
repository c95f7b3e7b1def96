"""What a visitor has set in the workbench, and the problem that it makes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from attention_core import AttentionTrace, Step
from attention_core.attention.scores import SCORES
from attention_core.links import pack, unpack
from pages.vectors import problem as core
from ui import state
from ui.computed import cached_computation
from ui.edits import EditList
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


def are_tables_changed() -> bool:
    """Return whether tables differ from the example's."""
    initial, present = example().tables, problem_in_tables().tables
    is_same = initial.keys() == present.keys() and all(np.array_equal(initial[name], present[name]) for name in initial)
    return LOADED.value == PRESET.value and not is_same


def are_rules_changed() -> bool:
    """Return whether settings or weights differ from the example's."""
    is_set = any(field.encode() for field in SETTINGS.values())
    return LOADED.value == PRESET.value and (is_set or bool(EDITS.changes))


def example() -> core.Problem:
    """Return the example that was loaded."""
    return core.PRESETS[LOADED.value].problem()


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
