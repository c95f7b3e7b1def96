"""The first screen: vectors that are dragged, the weights of all their pairs, and a vector of zeros to try."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from math import ceil

import numpy as np
import streamlit as st

from attention_core import AttentionTrace
from attention_core.attention.wording import percent
from pages.vectors import problem as core
from pages.vectors import tables as workbench
from pages.vectors.problem import Problem
from pages.vectors.tables import EDITS, NAME, attention
from ui.labels import explain
from ui.state import Field
from ui.try_this import GUESSING, NOT_TRIED, TRY_STAGE, TryThis
from ui.vector_plane import VectorPlane

PLANE = VectorPlane(NAME, "nine_pairs", pause=120)
ARROWS: Field[list[list[float]]] = Field(NAME, "arrows", list)
"""The tips of the arrows that the browser has."""


def example_choice() -> None:
    """Draw the list of examples, and what the chosen one shows."""
    left, right = st.columns([1, 2.8], vertical_alignment="center", gap="medium")
    titles = {name: preset.title for name, preset in core.PRESETS.items()}
    box = partial(left.selectbox, format_func=titles.__getitem__, label_visibility="collapsed")
    workbench.PRESET.widget(box, "Example", list(titles), on_change=_on_example)
    lesson = core.PRESETS[workbench.PRESET.value].line
    right.markdown("Before your changes: " * workbench.is_edited() + lesson, help=explain(lesson))


def _on_example() -> None:
    workbench.choose_preset(workbench.PRESET.value)
    TRY_STAGE[NAME].reset()  # the outcome of a guess was about other pairs


def show_pairs(problem: Problem, trace: AttentionTrace) -> None:
    """Draw the vectors, and the weight of every pair with what has changed since the example or the last drag."""
    tables = core.planar_tables(problem)
    table_of_arrow = [name for name in tables for _ in problem.tables[name]]
    kind_of_table = {"Q": "query", "K": "key", "Y": "key"}
    arrows = [row for name in tables for row in problem.tables[name].tolist()]
    if arrows != ARROWS.value:
        PLANE.refresh()
        ARROWS.value = arrows
    is_tried = TRY_STAGE[NAME].value not in (NOT_TRIED, GUESSING)
    before = replace(workbench.example(), settings=problem.settings) if is_tried else workbench.problem_before()
    arrows_before = [row for name in tables for row in before.tables[name].tolist()]
    values = problem.tables["V" if problem.is_direct else "W_V"]
    score_map, mask = None if trace.edits else core.pair_map(problem, trace), core.mask_of(problem)
    data = {
        "names": [label for name in tables for label in problem.row_labels(name)],
        "kinds": [kind_of_table.get(name, "input") for name in table_of_arrow],
        "tables": table_of_arrow,
        "given": {name: problem.tables[name].tolist() for name in (problem.query_table, problem.key_table)},
        "query": problem.query_table,
        "key": problem.key_table,
        "extent": 2.0 * ceil(0.55 * np.abs(arrows).max(initial=1)),
        "rows": list(trace.story.query_axis.labels),
        "columns": list(trace.story.key_axis.labels),
        "weights": trace.weights().tolist(),
        "before": workbench.attention(before).weights().tolist(),
        "from": arrows_before if np.shape(arrows_before) == np.shape(arrows) else None,
        "map": None if score_map is None else score_map.tolist(),
        "allowed": None if mask is None else mask.tolist(),
        "edges": core.neighbours(problem) if tables else [],
        "soft": trace.has_softmax,
        "neuron": problem.key_table == "X",
        "alone": not trace.edits and _are_same_tables(problem, before, problem.tables.keys() - {*tables}),
        "values": values.tolist() if tables and values.shape[1] == 2 else None,
    }
    PLANE.draw(arrows, data, on_drag)


def on_drag() -> None:
    moved = PLANE.message()
    if moved is None:
        return
    ARROWS.value, rows = moved["arrows"], iter(moved["arrows"])
    tables = dict(workbench.problem_in_tables().tables)
    for name in core.planar_tables(workbench.problem_in_tables()):
        tables[name] = np.array([next(rows) for _ in tables[name]], dtype=np.float64)
    workbench.write_tables(tables)


def load_zero_input() -> None:
    """Load the first example with zeros as its first input, x1."""
    workbench.choose_preset(workbench.FIRST)
    workbench.load_preset(again=True)
    EDITS.reset()
    tables = dict(workbench.problem_in_tables().tables)
    tables["X"][0] = 0
    workbench.write_tables(tables)


def has_zero_input(problem: Problem) -> bool:
    """Return whether x1 of the first example is all zeros, and no other number or setting is changed."""
    are_rules_changed = any(field.encode() for field in workbench.SETTINGS.values())
    if workbench.PRESET.value != workbench.FIRST or EDITS.changes or are_rules_changed:
        return False
    example = workbench.example()
    is_intact = _are_same_tables(example, problem, example.tables.keys() - {"X"})
    return is_intact and not problem.tables["X"][0].any()


def _are_same_tables(problem: Problem, before: Problem, names: Iterable[str]) -> bool:
    return all(np.array_equal(problem.tables[name], before.tables[name]) for name in names)


def zero_input_outcome() -> tuple[int, str]:
    """Return the index of the guess at x1's weights that came true, 1 = all equal, 2 = itself alone, and a sentence."""
    weights = attention(workbench.problem_in_tables()).weights()[0].tolist()
    option = 1 if max(weights) - min(weights) < 0.01 else 2 if weights[0] > 0.99 else -1
    shares = ", ".join(map(percent, weights))
    return option, f"x1 takes {shares}. Shares sum to 100%: who asks for nothing takes the average."


ZERO_INPUT = TryThis(
    "shrink x1 to nothing",
    "x1 becomes a vector of zeros: all its scores are 0. What does it take from the three?",
    ("Nothing", "A third from each", "All from itself"),
    load_zero_input,
    zero_input_outcome,
    PLANE.container_key,
)
