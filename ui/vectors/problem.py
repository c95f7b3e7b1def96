"""What a visitor has set in the workbench, and the problem that it makes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from attention_core.attention.scores import SCORES
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from attention_core.links import pack, unpack
from attention_core.topics.vectors.presets import PRESETS
from attention_core.topics.vectors.problem import Problem, Settings, linked_tables, trace_of
from ui.computed import cached_computation
from ui.edits import EditList
from ui.player import Stepper
from ui.state import Field, as_text, between, named, one_of, whole_number

NAME = "vectors"
FIRST = "pairs"
Rows = Sequence[Sequence[float]]
PRESET = Field(NAME, "preset", FIRST, address="preset", parse=one_of(PRESETS))
LOADED = Field(NAME, "loaded", "")
"""The preset that the tables began with."""
SETTINGS: dict[str, Field] = {
    "scoring": Field(NAME, "scoring", "dot", address="scoring", parse=one_of(SCORES)),
    "scaled": Field(NAME, "scaled", True, address="scale", **named(**{"sqrt(d_k)": True, "none": False})),
    "temperature": Field(NAME, "temperature", 1.0, address="temperature", parse=between(0.05, 5.0)),
    "causal": Field(NAME, "causal", False, address="mask", **named(causal=True, none=False)),
    "softmax": Field(NAME, "softmax", True, address="softmax"),
    "edges": Field[list[int]](NAME, "edges", list, address="edges"),
}


def _packed(tables: Mapping[str, Rows]) -> str:
    """Return tables as links have them: every number as a person would type it, without losing a digit."""
    return pack({name: [[_typed(value) for value in row] for row in rows] for name, rows in tables.items()})


def _typed(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


CELLS: Field[dict[str, Rows]] = Field(
    NAME, "cells", dict, address="cells", parse=lambda text: linked_tables(unpack(text)), text=_packed
)
EDITION = Field(NAME, "edition", 0)
"""Counts the changes that no table made; the tables are drawn anew when it has changed."""
attention = cached_computation()(trace_of)
EDITS = EditList(NAME)
CELL = Field(
    NAME,
    "cell",
    lambda: {"query": 0, "key": 1, "dimension": 0},
    address="cell",
    parse=lambda text: dict(zip(CELL.default, map(whole_number, text.split(".")), strict=True)),
    text=lambda cell: as_text(list(cell.values())),
)
"""The chosen cell: the same query, key and dimension in every step."""


def row_kind(step: Step) -> str:
    """Say what a step's rows are: "query" or "key"."""
    return "key" if step.name in ("memory", "key", "value") else "query"


def column_kind(step: Step) -> str:
    """Say what a step's columns are: "key", or "dimension" of a vector."""
    return "key" if step.name in ("scores", "scaled", "mask", "weights") else "dimension"


def chosen_cell(step: Step) -> tuple[int, int]:
    cell = CELL.value
    return min(cell[row_kind(step)], step.shape[0] - 1), min(cell[column_kind(step)], step.shape[1] - 1)


STEPS = Stepper(NAME, first=lambda: PRESETS[PRESET.value].step)


def choose_preset(name: str) -> None:
    PRESET.value = name
    STEPS.field.value = STEPS.field.default


def follow_preset(*, anew: bool = False) -> None:
    """Put the chosen preset into the tables and the settings, unless they began with it and it is not wanted anew."""
    if PRESET.value == LOADED.value and CELLS.is_preset and not anew:
        return
    LOADED.value, CELL.value = PRESET.value, CELL.default
    write_tables(example().tables)
    for name, value in vars(example().settings).items():
        SETTINGS[name].value = list(value) if name == "edges" else value
    for field in (CELLS, CELL, *SETTINGS.values()):
        field.preset(field.value)


def example() -> Problem:
    """Return what the tables began with."""
    return PRESETS[LOADED.value].problem()


def problem_before() -> Problem:
    """Return what the tables began with, before the example moved something, under the settings of now."""
    return replace(PRESETS[LOADED.value].problem_before(), settings=typed_problem().settings)


def write_tables(tables: Mapping[str, np.ndarray]) -> None:
    CELLS.value = {name: table.tolist() for name, table in tables.items()}
    EDITION.value += 1


def typed_problem() -> Problem:
    """Return the problem that stands in the tables."""
    tables = {name: np.array(rows, dtype=np.float64) for name, rows in CELLS.value.items()}
    settings = Settings(**{name: field.value for name, field in SETTINGS.items()})
    return Problem(tables, example().labels, settings)


def rows_in_words(problem: Problem) -> str:
    """Return what tells the rows of a problem, which edits are about, from those of another."""
    return " ".join((*problem.row_labels(problem.query_table), *problem.row_labels(problem.key_table)))


def edited(problem: Problem) -> AttentionTrace:
    """Return a problem's attention with the edits that fit it."""
    plain = attention(problem)
    edits = EDITS.fitting(plain, of=rows_in_words(problem))
    return attention(problem, edits) if edits else plain
