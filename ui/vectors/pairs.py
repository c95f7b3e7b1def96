"""The first screen: vectors that are dragged in a plane, and the weights of all their pairs."""

from dataclasses import replace
from math import ceil

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts import matrix_chart
from attention_core.charts.vega import Chart
from attention_core.device import to_array
from attention_core.topics.vectors import Mode, Problem
from attention_core.topics.vectors.cells import feed_forward
from attention_core.topics.vectors.charts import short
from attention_core.topics.vectors.pairs import MOST_ARROWS, pair_map, planar_tables
from attention_core.topics.vectors.presets import PIXELS, PIXELS_LINE, PIXELS_TITLE, PRESETS
from ui.chart import draw_chart, note_picture
from ui.skeleton import explain
from ui.state import Field
from ui.vector_plane import VectorPlane
from ui.vectors.problem import (
    BEFORE,
    FIRST,
    GOOD,
    LABELS,
    NAME,
    PRESET,
    attention,
    choose_preset,
    follow_preset,
    last_good,
    write_table,
)

PLANE = VectorPlane(NAME, "nine_pairs", pause=120)
ARROWS: Field[list[list[float]]] = Field(NAME, "arrows", list)
"""What the browser has of them."""
GRAB = Field(NAME, "grab", 0)
"""Tells one drag from the next."""
MOVED_TO = (-1.0, 1.5)
"""Where x1 goes in Try this."""


def example_choice() -> None:
    """Draw the list of examples and the chosen one's line."""
    left, right = st.columns([1, 2.8], vertical_alignment="center", gap="medium")
    titles = {name: preset.title for name, preset in PRESETS.items()} | {PIXELS: PIXELS_TITLE}
    look = {"format_func": titles.__getitem__, "label_visibility": "collapsed"}
    PRESET.widget(left.selectbox, "Example", list(titles), on_change=lambda: choose_preset(PRESET.value), **look)
    line = PIXELS_LINE if PRESET.value == PIXELS else PRESETS[PRESET.value].line
    right.markdown(line, help=explain(line))


def show_pairs(problem: Problem, trace: AttentionTrace, before: AttentionTrace | None, head: int, old: bool) -> None:
    """Draw the vectors, and the weight of every pair with what the last edit changed; old ones are greyed."""
    weights, ramp_title = to_array(trace.weights(head)), "weight" if trace.has_softmax else "score"
    axes = trace.story.query_axis, trace.story.key_axis

    def picture() -> Chart:
        return matrix_chart(weights, *axes, Role.WEIGHTS if trace.has_softmax else Role.SCORES, title=ramp_title)

    if max(weights.shape) > MOST_ARROWS:
        draw_chart(picture(), width="content", alt="The weights: one cell for every pair")
        return
    note_picture(picture, "The weight of every pair")
    tables = planar_tables(problem)
    owners = [name for name in tables for _ in problem.tables[name]]
    kinds = {"Q": "query", "K": "key", "Y": "key"}
    arrows = [row for name in tables for row in problem.tables[name].tolist()]
    if arrows != ARROWS.value:
        PLANE.refresh()
        ARROWS.value = arrows
    allowed = trace.allowed(head)
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
        "before": _weights_before(before, weights.shape, head),
        "map": _listed(pair_map(problem, trace, head)),
        "allowed": _listed(allowed),
        "soft": trace.has_softmax,
        "neuron": _neuron(problem) if problem.mode == Mode.SELF else [],
        "old": old,
    }
    PLANE.draw(arrows, data, take_drag)


def _listed(matrix: np.ndarray | Tensor | None) -> list | None:
    return None if matrix is None else matrix.tolist()


def _neuron(problem: Problem) -> list[str]:
    weights = feed_forward(*problem.tables["X"].shape, bends=False, deep=False).weights[0]
    return [", ".join(map(short, row)) for row in weights]


def _weights_before(before: AttentionTrace | None, shape: tuple[int, int], head: int) -> list | None:
    if before is None or (before.n_queries, before.n_keys) != shape or head >= before.n_heads:
        return None
    return to_array(before.weights(head)).tolist()


def take_drag() -> None:
    """Take over vectors that are dragged; all of one drag is one edit."""
    moved, problem = PLANE.message(), GOOD.value
    if moved is None or problem is None:
        return
    if moved["grab"] != GRAB.value:
        GRAB.value, BEFORE.value = moved["grab"], problem
    ARROWS.value = moved["arrows"]
    rows, tables = iter(moved["arrows"]), dict(problem.tables)
    for name in planar_tables(problem):
        tables[name] = np.array([next(rows) for _ in tables[name]], dtype=np.float64)
        write_table(name, tables[name], LABELS.value.get(name, []))
    GOOD.value = replace(problem, tables=tables)


def move_x1() -> None:
    """Move x1 of the first example, and nothing else."""
    choose_preset(FIRST)
    follow_preset(anew=True)
    problem = last_good()
    rows = problem.tables["X"].copy()
    rows[0] = MOVED_TO
    write_table("X", rows)


def moved_weights() -> tuple[int, str]:
    """Return which guess came true, 3, 5 or 9 weights, and in words what the last edit changed."""
    now = attention(last_good())
    old = None if BEFORE.value is None else attention(BEFORE.value)
    if old is None or old.weights().shape != now.weights().shape:
        return -1, "Nothing has been moved since."
    changed = int(((now.weights() - old.weights()).abs() > 1e-9).sum())
    scores = int(((step_of(now, "scores").value(0) - step_of(old, "scores").value(0)).abs() > 1e-9).sum())
    words = (
        f"{changed} of {now.weights().numel()} weights changed. Only {scores} scores did, but in every row the weights "
        "share 100 %: if one grows, the others shrink. A neuron's weights would all have stayed."
    )
    return {3: 0, 5: 1, 9: 2}.get(changed, -1), words
