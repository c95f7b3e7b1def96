"""The first screen: vectors that are dragged in a plane, and the weights of all their pairs."""

from dataclasses import replace
from math import ceil

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts import matrix_chart
from attention_core.charts.network import short
from attention_core.device import to_array
from attention_core.topics.vectors import Problem
from attention_core.topics.vectors.experiments import feed_forward
from attention_core.topics.vectors.plane import pair_map, planar_tables
from attention_core.topics.vectors.presets import PRESETS
from attention_core.topics.vectors.problem import mask_of, neighbours
from ui.chart import note_picture
from ui.glossary import explain
from ui.labels import as_percent
from ui.state import Field
from ui.try_this import ASKED, NOT_TRIED, TRIED
from ui.vector_plane import VectorPlane
from ui.vectors.problem import (
    FIRST,
    NAME,
    PRESET,
    attention,
    choose_preset,
    example,
    follow_preset,
    problem_before,
    typed_problem,
    write_tables,
)

PLANE = VectorPlane(NAME, "nine_pairs", pause=120)
ARROWS: Field[list[list[float]]] = Field(NAME, "arrows", list)
"""What the browser has of them."""


def example_choice() -> None:
    """Draw the list of examples and the chosen one's line."""
    left, right = st.columns([1, 2.8], vertical_alignment="center", gap="medium")
    titles = {name: preset.title for name, preset in PRESETS.items()}
    look = {"format_func": titles.__getitem__, "label_visibility": "collapsed"}
    PRESET.widget(left.selectbox, "Example", list(titles), on_change=_take_example, **look)
    line = PRESETS[PRESET.value].line
    right.markdown(line, help=explain(line))


def _take_example() -> None:
    choose_preset(PRESET.value)
    TRIED[NAME].reset()  # what came of a guess was about other pairs


def show_pairs(problem: Problem, trace: AttentionTrace) -> None:
    """Draw the vectors, and the weight of every pair with what has changed since the example or the last drag."""
    weights, title = to_array(trace.weights()), "weight" if trace.has_softmax else "score"
    axes, role = (trace.story.query_axis, trace.story.key_axis), Role.WEIGHTS if trace.has_softmax else Role.SCORES
    note_picture(lambda: matrix_chart(weights, *axes, role, title=title), "The weight of every pair")
    tables = planar_tables(problem)
    owners = [name for name in tables for _ in problem.tables[name]]
    kinds = {"Q": "query", "K": "key", "Y": "key"}
    arrows = [row for name in tables for row in problem.tables[name].tolist()]
    if arrows != ARROWS.value:
        PLANE.refresh()
        ARROWS.value = arrows
    is_tried = TRIED[NAME].value not in (NOT_TRIED, ASKED)
    before = replace(example(), settings=problem.settings) if is_tried else problem_before()
    came_from = [row for name in tables for row in before.tables[name].tolist()]
    made_scores, allowed = None if trace.edits else pair_map(problem, trace), mask_of(problem)
    data = {
        "names": [label for name in tables for label in problem.row_labels(name)],
        "kinds": [kinds.get(name, "input") for name in owners],
        "tables": owners,
        "given": {name: problem.tables[name].tolist() for name in (problem.query_table, problem.key_table)},
        "query": problem.query_table,
        "key": problem.key_table,
        "extent": 2.0 * ceil(0.55 * np.abs(arrows).max(initial=1)),
        "rows": list(axes[0].labels),
        "columns": list(axes[1].labels),
        "weights": weights.tolist(),
        "before": attention(before).weights().tolist(),
        "from": came_from if np.shape(came_from) == np.shape(arrows) else None,
        "map": None if made_scores is None else made_scores.tolist(),
        "allowed": None if allowed is None else allowed.tolist(),
        "edges": neighbours(problem) if tables else [],
        "soft": trace.has_softmax,
        "neuron": _neuron(problem) if problem.key_table == "X" else [],
    }
    PLANE.draw(arrows, data, take_drag)


def _neuron(problem: Problem) -> list[str]:
    weights = feed_forward(*problem.tables["X"].shape, bends=False, deep=False).weights[0]
    return [", ".join(map(short, row)) for row in weights]


def take_drag() -> None:
    moved = PLANE.message()
    if moved is None:
        return
    ARROWS.value, rows = moved["arrows"], iter(moved["arrows"])
    tables = dict(typed_problem().tables)
    for name in planar_tables(typed_problem()):
        tables[name] = np.array([next(rows) for _ in tables[name]], dtype=np.float64)
    write_tables(tables)


def shrink_to_nothing() -> None:
    """Show the first example with zeros in the place of its first input."""
    choose_preset(FIRST)
    follow_preset(anew=True)
    tables = dict(typed_problem().tables)
    tables["X"][0] = 0
    write_tables(tables)


def shares_of_nothing() -> tuple[int, str]:
    """Return which guess came true of what x1 takes, nothing, a third of each or itself, and say what it does."""
    shares = attention(typed_problem()).weights()[0].tolist()
    found = 1 if max(shares) - min(shares) < 0.01 else 2 if shares[0] > 0.99 else -1
    words = (
        f"x1 takes {', '.join(map(as_percent, shares))}. Shares sum to 100%: who asks for nothing takes the average."
    )
    return found, words
