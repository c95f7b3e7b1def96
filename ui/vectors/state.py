"""What a visitor typed into the workbench: kept in the session as plain texts, numbers and arrays.

Cells are kept as they were typed, so that a slip ("1..5") is still there to be put right.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import streamlit as st

from attention_core.topics.vectors import (
    MAX_ROWS,
    PIXELS,
    PRESETS,
    SIZES,
    TABLES,
    Fault,
    Mode,
    Problem,
    Settings,
    find_faults,
    in_mode,
    randomised,
    resize_cells,
)
from attention_core.topics.vectors.tables import parse_cells
from ui.vectors.pixels import digit_pixels

NAME = "vectors"
FIRST = "pairs"
LABELLED = ("X", "Y", "Q", "K")
SETTINGS = tuple(asdict(Settings()))


def memory() -> dict[str, Any]:
    """Return what is typed: mode, cells, labels, drawn mask, notes; the first preset on arrival."""
    state = st.session_state
    if NAME not in state:
        state[NAME] = {"generation": 0, "cells": {}, "labels": {}, "drawn": None, "notes": [], "base": {}}
        asked = st.query_params.get("preset", FIRST)
        load_preset(asked if asked in (*PRESETS, PIXELS) else FIRST)
        if "mode" not in state[NAME]:
            load_preset(FIRST)
    return state[NAME]


def load_preset(name: str) -> None:
    """Put a preset into the tables and the settings."""
    held = st.session_state[NAME]
    if name == PIXELS:
        pixels = digit_pixels()
        if pixels.problem is None:
            held["notes"] = [pixels.message]
            return
        problem, step = pixels.problem, "scores"
    else:
        problem, step = PRESETS[name].problem(), PRESETS[name].step
    held["preset"] = name
    held["cells"], held["labels"], held["drawn"], held["notes"] = {}, {}, None, []
    put_problem(problem)
    state = st.session_state
    state[f"{NAME}_cell"] = {"query": 0, "key": 1, "dimension": 0}
    if "step" not in st.query_params or f"{NAME}_step" in state:
        state[f"{NAME}_step"] = step
    held["good"] = held["before"] = None


def put_problem(problem: Problem, only: tuple[str, ...] | None = None) -> None:
    """Write a problem's tables and settings over what is typed.

    Args:
        problem: gives them.
        only: the tables to write; None = all it has.
    """
    held, state = st.session_state[NAME], st.session_state
    held["mode"] = str(problem.mode)
    for name, table in problem.tables.items():
        if only is None or name in only:
            held["cells"][name] = [[text_of(value) for value in row] for row in table]
            if name in LABELLED:
                held["labels"][name] = list(problem.row_labels(name))
    if problem.drawn is not None:
        held["drawn"] = problem.drawn
    for name, value in asdict(problem.settings).items():
        state[f"{NAME}_{name}"] = value
    state[f"{NAME}_mode"] = held["mode"]
    remount()


def text_of(value: float) -> str:
    """Return a number as a person would type it, without losing a digit."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def remount() -> None:
    """Let the editors start anew from what is typed now."""
    held = st.session_state[NAME]
    held["generation"] += 1
    held["base"] = {}


def settings() -> Settings:
    """Return the settings as the widgets have them."""
    state, plain = st.session_state, asdict(Settings())
    return Settings(**{name: state.get(f"{NAME}_{name}", value) for name, value in plain.items()})


def read_problem() -> tuple[Problem | None, list[Fault]]:
    """Return the problem that is typed, or None and what is wrong with it, table by table."""
    held = memory()
    mode = Mode(held["mode"])
    chosen = settings()
    tables, faults = {}, []
    for name in (*TABLES[mode], *chosen.parameter_names):
        if name not in held["cells"]:
            continue
        table, wrong = parse_cells(name.split(".")[-1], held["cells"][name])
        faults += [Fault((name,), fault.message) for fault in wrong]
        if table is not None:
            tables[name] = table
    if faults:
        return None, faults
    labels = {name: tuple(texts) for name, texts in held["labels"].items() if name in tables}
    if mode == Mode.DIRECT and "K" in labels:
        labels["V"] = labels["K"]
    problem = Problem(mode, tables, labels, chosen, held["drawn"])
    faults = find_faults(problem)
    return (None, faults) if faults else (problem, [])


def remember(problem: Problem) -> Problem | None:
    """Keep a problem that can be computed; return the one before the last edit, or None.

    Labels are no edit: nothing that is computed changes with them.
    """
    held = st.session_state[NAME]
    good = held.get("good")
    if good is not None and Problem.from_plain(good).fingerprint() != problem.fingerprint():
        held["before"] = good
    held["good"] = problem.to_plain()
    return last_before()


def last_before() -> Problem | None:
    """Return the problem before the last edit, or None."""
    before = st.session_state[NAME].get("before")
    return None if before is None else Problem.from_plain(before)


def last_good() -> Problem | None:
    """Return the last problem that could be computed, or None."""
    good = st.session_state[NAME].get("good")
    return None if good is None else Problem.from_plain(good)


def change_mode() -> None:
    """Go to the mode that the widget says, keeping the numbers as far as they have a meaning there."""
    held, state = st.session_state[NAME], st.session_state
    wanted, present = Mode(state[f"{NAME}_mode"]), last_good()
    if present is None:
        present = PRESETS[FIRST].problem()
    changed = in_mode(present, wanted)
    kept = set(TABLES[Mode(held["mode"])]) & set(TABLES[wanted])
    stays = {
        name
        for name in kept
        if len(held["cells"][name]) == len(changed.tables[name])
        and len(held["cells"][name][0]) == changed.tables[name].shape[1]
    }
    put_problem(changed, tuple(name for name in TABLES[wanted] if name not in stays))


def sizes() -> dict[str, int]:
    """Return how many rows and columns the tables have, by what they count (see SIZES)."""
    held, found = memory(), {}
    for name, (rows, columns) in SIZES[Mode(held["mode"])].items():
        cells = held["cells"][name]
        found.setdefault(rows, max(len(cells), 1))
        found.setdefault(columns, max(len(cells[0]) if cells else 1, 1))
    return found


def resize(wanted: dict[str, int]) -> None:
    """Give all tables the sizes that they share; what was typed stays."""
    held = st.session_state[NAME]
    for name, (rows, columns) in SIZES[Mode(held["mode"])].items():
        cells = resize_cells(held["cells"][name], wanted[rows], wanted[columns], name.startswith("W"))
        held["cells"][name] = cells
        if name in LABELLED:
            labels = held["labels"].get(name, [])[: len(cells)]
            held["labels"][name] = labels + [f"{name.lower()}{row + 1}" for row in range(len(labels), len(cells))]
    remount()


def put_table(name: str, values: np.ndarray, labels: tuple[str, ...] = ()) -> None:
    """Replace one table."""
    held = st.session_state[NAME]
    held["cells"][name] = [[text_of(value) for value in row] for row in values]
    if name in LABELLED:
        held["labels"][name] = list(labels) or [f"{name.lower()}{row + 1}" for row in range(len(values))]
    remount()


def randomise(seed: int) -> None:
    """Fill all tables with random numbers; the sizes stay."""
    held = st.session_state[NAME]
    mode = Mode(held["mode"])
    shapes = {name: np.zeros((len(held["cells"][name]), len(held["cells"][name][0]))) for name in TABLES[mode]}
    random = randomised(Problem(mode, shapes), seed)
    for name, table in random.tables.items():
        held["cells"][name] = [[text_of(value) for value in row] for row in table]
    remount()


def bound(name: str) -> None:
    """Cut a table that was pasted too long, and tell."""
    held = st.session_state[NAME]
    n = len(held["cells"][name])
    if n > MAX_ROWS:
        held["cells"][name] = held["cells"][name][:MAX_ROWS]
        if name in LABELLED:
            held["labels"][name] = held["labels"][name][:MAX_ROWS]
        held["notes"] = [
            f"{name}: {n:,} rows came; the first {MAX_ROWS} were kept, because every pair of rows is drawn."
        ]
        remount()
