"""The first screen: vectors that are dragged, the weights of all their pairs, and a guess at how many change."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core import AttentionTrace
from attention_core.attention.edits import SetWeights
from attention_core.attention.view.scene import scene_data
from attention_core.device import to_array
from pages.vectors import problem as core
from pages.vectors import tables as workbench
from pages.vectors.problem import Problem
from pages.vectors.tables import CELL, EDITS, NAME, attention, chosen_cell
from ui.edits import WeightsRow
from ui.labels import explain
from ui.player import step_of
from ui.scene import scene_choice
from ui.state import Field
from ui.try_this import NOT_TRIED, TRY_STAGE, TryThis, is_guessing
from ui.vector_plane import VectorPlane

PLANE = VectorPlane(NAME, "nine_pairs", pause=120)
TURNED = "projections"
"""The first example, with a W_Q that turns its inputs."""
MOVED_INPUT = (-1.8, 0.2)
COUNTS = ("3", "5", "9")
"""The guesses at how many weights change."""
SMALLEST_CHANGE = 1e-9
ARROWS: Field[list[list[float]]] = Field(NAME, "arrows", list)
"""The tips of the arrows that the browser has."""


def example_choice() -> DeltaGenerator:
    """Draw the list of examples, and what the chosen one shows; return their row, in which there is room."""
    row = st.container(key="vectors_in_a_row", horizontal=True, vertical_alignment="center", gap="medium")
    titles = {name: preset.title for name, preset in core.PRESETS.items()}
    box = partial(row.selectbox, format_func=titles.__getitem__, label_visibility="collapsed", width=260)
    workbench.PRESET.widget(box, "Example", list(titles), on_change=_on_example)
    # an example's line is not about what is asked, nor about other numbers
    lesson = core.PRESETS[workbench.PRESET.value].line
    if lesson and TRY_STAGE[NAME].value == NOT_TRIED and not workbench.are_tables_changed():
        row.markdown("Before your changes: " * workbench.are_rules_changed() + lesson, help=explain(lesson))
    return row


def _on_example() -> None:
    workbench.choose_preset(workbench.PRESET.value)
    EDITS.reset()
    TRY_STAGE[NAME].reset()  # the outcome of a guess was about other pairs


def show_pairs(problem: Problem, trace: AttentionTrace, *, can_cover: bool = False) -> None:
    """Draw the vectors, and how the chosen one asks, weighs and mixes all keys; `can_cover`: a guess covers that."""
    tables = core.planar_tables(problem)
    table_of_arrow = [name for name in tables for _ in problem.tables[name]]
    role_of_table = {"Q": "query", "K": "key", "Y": "key"}
    arrows = [row for name in tables for row in problem.tables[name].tolist()]
    if arrows != ARROWS.value:
        PLANE.refresh()
        ARROWS.value = arrows
    data = {
        "names": [label for name in tables for label in problem.row_labels(name)],
        "kinds": [role_of_table.get(name, "input") for name in table_of_arrow],
        "tables": table_of_arrow,
        "rows": {name: problem.tables[name].tolist() for name in (problem.query_table, problem.key_table)},
        "query": problem.query_table,
        "key": problem.key_table,
        "extent": 2.0 * ceil(0.55 * np.abs(arrows).max(initial=1)),
        "edges": core.neighbours(problem) if tables else [],
        "isProjected": not problem.is_direct and trace.key.shape[-1] == 2,
        "isTurned": are_queries_turned(problem),
        "subject": workbench.LOADED.value,
    }
    covered = can_cover and is_guessing(NAME)
    scene = pairs_scene(trace) | {"query": chosen_cell(step_of(trace, "weights"))[0], "plays": True, "covered": covered}
    PLANE.draw(arrows, data | live_numbers(problem, trace), on_drag, scene, partial(on_choose, problem, trace))


def live_numbers(problem: Problem, trace: AttentionTrace) -> dict[str, Any]:
    """Return what nine_pairs.js computes scores and values of; the factor is None where only Python computes scores."""
    mask, projected = core.mask_of(problem), None if problem.is_direct else "QKV"
    return {
        "factor": None if trace.edits else trace.score.dot_factor(trace.key.shape[-1]),
        "projections": projected and {letter: problem.tables[f"W_{letter}"].tolist() for letter in projected},
        "values": to_array(trace.value_of(0)).tolist(),
        "allowed": None if mask is None else mask.tolist(),
    }


def pairs_scene(trace: AttentionTrace) -> dict[str, Any]:
    """Return the scene of all queries; without a softmax it ends at the scores."""
    soft = trace if trace.has_softmax else replace(trace, has_softmax=True, normaliser=None, fused_context=None)
    edited = {edit.query for edit in trace.edits if isinstance(edit, SetWeights)}
    state = {"isSoft": trace.has_softmax, "isEdited": bool(trace.edits), "changed": [*edited]}
    return scene_data(soft) | state


def on_choose(problem: Problem, trace: AttentionTrace) -> None:
    """Take another query, or change a weight of it."""
    choice = scene_choice(NAME, trace.n_queries, trace.n_keys, "plane")
    if choice is None:
        return
    if choice.focus:
        turn_queries(problem, is_turned=choice.focus == "attention")
    CELL.value |= {"query": choice.row}
    if choice.is_reset:
        EDITS.reset()
    elif choice.key is not None and trace.has_softmax:
        row = WeightsRow(EDITS, trace, [choice.row], input_id=workbench.describe_rows(problem), prefix="row ")
        row.set_weight([choice.key], choice.weight)


def are_queries_turned(problem: Problem) -> bool | None:
    """Return whether W_Q turns the inputs of the first example; None for other examples, and other projections."""
    if workbench.LOADED.value not in (workbench.FIRST, TURNED):
        return None
    if not _are_same_tables(workbench.example(), problem, ("W_Q", "W_K")):
        return None
    return workbench.LOADED.value == TURNED


def turn_queries(problem: Problem, *, is_turned: bool) -> None:
    """Load the first example with the W_Q that turns its inputs, or without, and leave the inputs where they are."""
    workbench.PRESET.value = TURNED if is_turned else workbench.FIRST
    _on_example()
    workbench.load_preset()
    workbench.write_tables(dict(workbench.problem_in_tables().tables) | {"X": problem.tables["X"]})


def on_drag() -> None:
    moved = PLANE.message()
    if moved is None:
        return
    ARROWS.value, rows = moved["arrows"], iter(moved["arrows"])
    tables = dict(workbench.problem_in_tables().tables)
    for name in core.planar_tables(workbench.problem_in_tables()):
        tables[name] = np.array([next(rows) for _ in tables[name]], dtype=np.float64)
    workbench.write_tables(tables)


def move_input() -> None:
    """Load the first example with its first input, x1, moved, which asks."""
    workbench.choose_preset(workbench.FIRST)
    workbench.load_preset(again=True)
    EDITS.reset()
    tables = dict(workbench.problem_in_tables().tables)
    tables["X"][0] = MOVED_INPUT
    workbench.write_tables(tables)


def has_moved_input(problem: Problem) -> bool:
    """Return whether x1 of the first example is where move_input moves it, and nothing else is changed."""
    are_rules_changed = any(field.encode() for field in workbench.SETTINGS.values())
    if workbench.PRESET.value != workbench.FIRST or EDITS.changes or are_rules_changed:
        return False
    example = workbench.example()
    example.tables["X"][0] = MOVED_INPUT
    return _are_same_tables(example, problem, example.tables)


def _are_same_tables(problem: Problem, before: Problem, names: Iterable[str]) -> bool:
    return all(np.array_equal(problem.tables[name], before.tables[name]) for name in names)


def changed_weights() -> tuple[int, str]:
    """Return the index of the guess at how many weights have changed since the example, and a sentence."""
    problems = workbench.example(), workbench.problem_in_tables()
    before, after = (attention(problem).weights() for problem in problems)
    n_weights = int((after - before).abs().gt(SMALLEST_CHANGE).sum())
    option = COUNTS.index(str(n_weights)) if str(n_weights) in COUNTS else -1
    return option, f"**{n_weights}**: softmax divides each row by its sum, so one new score changes all three."


MOVE_INPUT = TryThis(
    "move x1 alone",
    "x1 is moved, x2 and x3 stay. How many of the nine weights change?",
    COUNTS,
    move_input,
    changed_weights,
    PLANE.container_key,
)
