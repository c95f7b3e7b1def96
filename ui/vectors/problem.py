"""What a visitor has set in the workbench, and the problem that it makes."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from attention_core.attention.scores import SCORES
from attention_core.data.drawing import draw_paths, prepare
from attention_core.data.presets import preset_paths
from attention_core.device import to_array
from attention_core.packed import pack, unpack
from attention_core.topics.vectors.presets import (
    PIXELS,
    PRESETS,
    SIZES,
    in_mode,
    pixel_problem,
    resize_cells,
    spread_positions,
)
from attention_core.topics.vectors.problem import (
    MASKS,
    MAX_ROWS,
    SCALES,
    TABLES,
    Fault,
    Mode,
    Problem,
    Settings,
    find_faults,
    parse_cells,
    trace_of,
)
from attention_core.topics.vectors.tables import (
    linked_cells,
    linked_labels,
    linked_mask,
    linked_problem,
)
from ui.computed import cached_computation, model_or_none
from ui.digits import read_digit
from ui.player import Stepper
from ui.state import Field, as_text, between, one_of, whole_number

NAME = "vectors"
FIRST = "pairs"
DIGIT, CANVAS_SIDE, PEN = 7, 256, 20
"""As on the digit page when it is opened."""
LABELLED = ("X", "Y", "Q", "K")
PRESET = Field(NAME, "preset", FIRST, address="preset", parse={name: name for name in (*PRESETS, PIXELS)}.__getitem__)
LOADED = Field(NAME, "loaded", "")
"""The preset that the tables began with."""
MODE = Field(NAME, "mode", str(Mode.SELF), address="mode", parse=one_of(map(str, Mode)))
BOUNDS = {
    "scoring": one_of(SCORES),
    "scale": one_of(SCALES),
    "factor": between(-100.0, 100.0),
    "temperature": between(0.05, 5.0),
    "mask": one_of(MASKS),
    "n_padding": between(0, MAX_ROWS),
    "n_heads": between(1, 16),
}
SETTINGS = {
    name: Field(NAME, name, value, address=name, parse=BOUNDS.get(name)) for name, value in asdict(Settings()).items()
}


def _packed(read: Callable[[Any], Any], plain: Callable[[Any], Any] = lambda value: value) -> dict[str, Callable]:
    return {"parse": lambda text: read(unpack(text)), "text": lambda value: pack(plain(value))}


CELLS: Field[dict[str, list[list[str]]]] = Field(NAME, "cells", dict, address="cells", **_packed(linked_cells))
LABELS: Field[dict[str, list[str]]] = Field(NAME, "labels", dict, address="labels", **_packed(linked_labels))
DRAWN: Field[np.ndarray | None] = Field(
    NAME, "drawn", None, address="drawn", **_packed(linked_mask, lambda mask: mask.astype(int).tolist())
)
attention = cached_computation()(trace_of)
EDITORS: Field[dict[str, dict]] = Field(NAME, "editors", dict)
"""What the editors on the page started from; without an entry an editor starts anew from the cells."""
NOTES: Field[list[tuple[bool, str]]] = Field(NAME, "notes", list)
"""What to tell of the last preset, paste or file: whether it was refused, and the words."""
GOOD: Field[Problem | None] = Field(NAME, "good", None)
"""The last problem that could be computed; BEFORE: the one before the last edit."""
BEFORE: Field[Problem | None] = Field(
    NAME, "before", None, address="before", **_packed(linked_problem, Problem.to_json)
)
CELL = Field(
    NAME,
    "cell",
    lambda: {"query": 0, "key": 1, "dimension": 0},
    address="cell",
    parse=lambda text: dict(zip(CELL.default, map(whole_number, text.split(".")), strict=True)),
    text=lambda cell: as_text(list(cell.values())),
)
"""The chosen cell: the same query, key and dimension in every step."""
STEPS = Stepper(NAME, first=lambda: "scores" if PRESET.value == PIXELS else PRESETS[PRESET.value].step)


def choose_preset(name: str) -> None:
    PRESET.value = name
    STEPS.field.value = STEPS.field.default


def follow_preset(*, anew: bool = False) -> None:
    """Put the chosen preset into the tables and the settings, unless they began with it and it is not wanted anew."""
    if PRESET.value == LOADED.value and CELLS.is_preset and not anew:
        return
    NOTES.value = []
    missing = model_or_none("pixel-classifier")[1] if PRESET.value == PIXELS else ""
    if missing:
        NOTES.value = [(False, f"The digit model cannot be loaded. {missing}")]
        PRESET.value = LOADED.value or FIRST
        if LOADED.value:
            return
    LOADED.value = PRESET.value
    CELLS.value, LABELS.value, DRAWN.value, CELL.value = {}, {}, None, CELL.default
    problem = _loaded_problem()
    write_problem(problem)
    GOOD.value = BEFORE.value = None
    for field in (MODE, CELLS, LABELS, DRAWN, CELL, BEFORE, *SETTINGS.values()):
        field.preset(field.value)
    if not CELLS.value.keys() >= set(TABLES[Mode(MODE.value)]):  # a link without the tables of its mode
        write_problem(problem)


def _loaded_problem() -> Problem:
    return three_pixels()[0] if LOADED.value == PIXELS else PRESETS[LOADED.value].problem()


def three_pixels() -> tuple[Problem, list[int]]:
    """Return three pixels of the digit page's first drawing, from its top to its foot, and their positions."""
    image = prepare(draw_paths(preset_paths(DIGIT, CANVAS_SIDE), CANVAS_SIDE, PEN)).image
    trace = read_digit(image).traces[0]
    query, key, value = (to_array(part[0]).astype(float) for part in (trace.query, trace.key, trace.value))
    positions = spread_positions(image)
    return pixel_problem(query, key, value, positions), positions


def write_problem(problem: Problem, only: Sequence[str] | None = None) -> None:
    """Write a problem's tables, or some of them, and its settings over what is typed."""
    MODE.value = str(problem.mode)
    for name in problem.tables if only is None else only:
        write_table(name, problem.tables[name], problem.row_labels(name))
    if problem.drawn is not None:
        DRAWN.value = problem.drawn
    for name, value in asdict(problem.settings).items():
        SETTINGS[name].value = value


def write_table(name: str, values: np.ndarray, labels: Sequence[str] = ()) -> None:
    _put_cells(name, [[_as_typed(float(value)) for value in row] for row in values], labels)


def _put_cells(name: str, cells: list[list[str]], labels: Sequence[str]) -> None:
    CELLS.value[name] = cells
    if name in LABELLED:
        more = [f"{name.lower()}{row + 1}" for row in range(len(labels), len(cells))]
        LABELS.value[name] = [*labels[: len(cells)], *more]
    EDITORS.value = {}


def _as_typed(value: float) -> str:
    """Return a number as a person would type it, without losing a digit."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def settings() -> Settings:
    return Settings(**{name: field.value for name, field in SETTINGS.items()})


def read_problem() -> tuple[Problem | None, list[Fault]]:
    """Return the problem that is typed, or None and what is wrong with it, table by table."""
    mode, chosen = Mode(MODE.value), settings()
    tables, faults = {}, []
    for name in (*TABLES[mode], *chosen.parameter_names):
        if name in CELLS.value:
            tables[name], wrong = parse_cells(name.split(".")[-1], CELLS.value[name])
            faults += [Fault((name,), fault.message) for fault in wrong]
    if faults:
        return None, faults
    labels = {name: tuple(texts) for name, texts in LABELS.value.items() if name in tables}
    if mode == Mode.DIRECT and "K" in labels:
        labels["V"] = labels["K"]
    problem = Problem(mode, tables, labels, chosen, DRAWN.value)
    faults = find_faults(problem)
    return (None, faults) if faults else (problem, [])


def last_good() -> Problem:
    """Return the last problem that could be computed; a link that holds none begins with its example."""
    if GOOD.value is None:
        GOOD.value = _loaded_problem()
    return GOOD.value


def remember(problem: Problem) -> None:
    """Keep a problem that can be computed, and the one before the last edit; labels are no edit."""
    good = GOOD.value
    if good is not None and good.fingerprint() != problem.fingerprint():
        BEFORE.value = good
    GOOD.value = problem


def change_mode(old: str) -> None:
    """Go to the mode that the widget says, keeping the numbers as far as they have a meaning there."""
    wanted = Mode(MODE.value)
    changed = in_mode(last_good(), wanted)
    other = [
        name
        for name in TABLES[wanted]
        if name not in TABLES[Mode(old)] or np.shape(CELLS.value[name]) != changed.tables[name].shape
    ]
    write_problem(changed, other)


def sizes() -> dict[str, int]:
    """Return how many rows and columns the tables have, by what they count (see SIZES)."""
    found: dict[str, int] = {}
    for name, (rows, columns) in SIZES[Mode(MODE.value)].items():
        cells = CELLS.value[name]
        found.setdefault(rows, max(len(cells), 1))
        found.setdefault(columns, max(len(cells[0]) if cells else 1, 1))
    return found


def resize(wanted: dict[str, int]) -> None:
    for name, (rows, columns) in SIZES[Mode(MODE.value)].items():
        cells = resize_cells(CELLS.value[name], wanted[rows], wanted[columns], name.startswith("W"))
        _put_cells(name, cells, LABELS.value.get(name, []))


def cut_to_bounds(name: str) -> bool:
    """Cut a table that was pasted too long, and tell; return whether it was."""
    if len(CELLS.value[name]) <= MAX_ROWS:
        return False
    _put_cells(name, CELLS.value[name][:MAX_ROWS], LABELS.value.get(name, []))
    why = "because every pair of rows is drawn"
    NOTES.value = [(False, f"{name}: more than {MAX_ROWS} rows came; the first {MAX_ROWS} were kept, {why}.")]
    return True
