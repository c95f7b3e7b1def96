"""The first screen, vectors that are dragged and the weights of all their pairs; the tabs and sections below it."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from math import ceil

import numpy as np
import streamlit as st

from attention_core import AttentionTrace, Role, Step
from attention_core.attention.wording import percent
from attention_core.bounds.harmless import as_markdown
from attention_core.charts.network import Node, layers_chart, neuron_chart, short
from attention_core.device import to_array
from pages.vectors import problem as core
from pages.vectors import tables as workbench
from pages.vectors.charts import hull_chart
from pages.vectors.problem import Problem
from pages.vectors.tables import CELL, EDITS, NAME, STEPS, attention, chosen_cell, column_kind, describe_rows, row_kind
from ui.chart import draw_chart
from ui.edits import WeightsRow, matrix_editor, show_contexts, show_weights_difference
from ui.labels import explain, number, paragraph
from ui.layout import section
from ui.player import StepStyle, show_all_numbers, step_of
from ui.state import Field
from ui.try_this import GUESSING, NOT_TRIED, TRY_STAGE
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


def average_section(trace: AttentionTrace) -> None:
    """Draw contexts inside the hull of two-dimensional values; say so when values have another width."""
    values, queries = to_array(trace.value_of(0)), trace.story.query_axis.labels
    if not trace.has_softmax:
        st.caption(SOFTMAX_IS_OFF)
        return
    if values.shape[1] != 2:
        st.caption(f"Only values of two columns can be drawn as points; these have {values.shape[1]}.")
        return
    query, _ = chosen_cell(step_of(trace, "context"))
    weights, context = to_array(trace.weights(0, [query]))[0], to_array(trace.context())
    picture, text_column = st.columns(2, gap="large", vertical_alignment="center")
    with picture:
        chart = hull_chart(values, context, weights, trace.story.key_axis.labels, queries, query)
        draw_chart(chart, width="content", alt="Values as points, contexts inside their hull")
    consequence = "A row with no weight left is handed zeros."
    if trace.weights().sum(1).min() > 1 - 1e-6:
        consequence = "Weights sum to 1, so no context leaves the values' hull."
    legend = f"Circles are values, diamonds contexts; lines are weights of **{as_markdown(queries[query])}**."
    text_column.markdown(f"{legend} {consequence}")


SOFTMAX_IS_OFF = "The softmax is off. Switch it on under *Change the rules*."


def change_weights(problem: Problem, trace: AttentionTrace) -> None:
    """Draw the weights, which can be set, and the context of the chosen query before and after."""
    if not trace.has_softmax:
        st.caption(SOFTMAX_IS_OFF)
        EDITS.draw(trace)
        return
    query, unedited = chosen_cell(step_of(trace, "weights"))[0], attention(problem)

    def choose(row: int) -> None:
        CELL.value |= {"query": row}

    left, right = st.columns(2, gap="large")
    with left:
        matrix_editor(WeightsRow(EDITS, trace, [query], input_id=describe_rows(problem), prefix="row "), choose)
    with right:
        show_contexts(unedited, trace, query)
        show_weights_difference(NAME, unedited, trace)


HAS_TANH, IS_DEEP = Field(NAME, "bends", False, address="bends"), Field(NAME, "deep", False, address="deep")
"""Whether the feed-forward network has a non-linearity, and a second layer."""


def neuron_panel(problem: Problem) -> None:
    """Draw a small feed-forward network, whose weights belong to inputs, and the mixed effect of two inputs in it."""
    if problem.key_table != "X":
        st.caption("A neuron has inputs X alone. Choose another example.")
        return
    inputs, labels = problem.tables["X"], list(problem.row_labels("X"))
    n = len(labels)
    section(f"{n} inputs: attention has a weight for each of {n * n} pairs, a neuron for none")
    with st.container(horizontal=True, gap="medium"):
        has_tanh = HAS_TANH.widget(st.toggle, "Non-linearity (tanh)")
        is_deep = IS_DEEP.widget(st.toggle, "Second layer")
    network = core.feed_forward(*inputs.shape, bends=has_tanh, deep=is_deep)
    answer = network.answer(inputs)
    if network.second is None:
        chart = neuron_chart(network.weights[0], inputs, labels, bent=short(answer) if has_tanh else "")
    else:
        units = [Node(short(unit), f"h{row}") for row, unit in enumerate(network.units(inputs), 1)]
        output = Node(short(answer), "y", Role.OUTPUT)
        chart = layers_chart([*map(Node, labels)], network.weights, units, network.second.tolist(), output)
    picture, text_column = st.columns(2, gap="large", vertical_alignment="center")
    with picture:
        alt = "A feed-forward network: weighted sums of the inputs"
        draw_chart(chart, key="vectors_neuron", width="content", alt=alt)
    with text_column:
        st.markdown("A neuron's weights belong to single inputs. Attention makes one for each pair, from the inputs.")
        if n > 1:
            _mixed_effect(network, inputs, *map(as_markdown, labels[:2]))


def _mixed_effect(network: core.FeedForward, inputs: np.ndarray, first: str, second: str) -> None:
    effect, effect_without_second = network.effect(inputs, 0), network.effect(inputs, 0, 1)
    mixed = number(network.mixed_effect(inputs, 0, 1), ".3f") if network.bends else "exactly 0"
    why = "Layers that only add never let one input change what another does."
    if network.bends:
        depends = "may depend" if effect == effect_without_second else "depends"
        why = f"Now what one input does {depends} on the others. The weights still do not."
    paragraph(
        f"{first} adds {number(effect, '.3f')} to y, and {number(effect_without_second, '.3f')} where {second} is gone "
        f"already. The difference is their mixed effect: **{mixed}**. {why}"
    )


NOTATIONS = (
    (r"$W_Q$, $W_K$, $W_V$", r"$QW$, $KW$, $VW$; $W^Q$, $W^K$, $W^V$", "the projections that make $Q$, $K$ and $V$"),
    (r"$h_j$, a state", "an annotation", "what a recurrent encoder knows at one word"),
    (r"$S_{ij}$, a score", r"$e_{ij}$, an energy; a logit; $\alpha_{ij}$ before the softmax", "how well a key fits"),
    (r"$A_{ij}$, a weight", r"$\alpha_{ij}$ after the softmax", "the share that a query gives to a key"),
    (r"$c_i$, a context", "a glimpse; an attention vector; a head's output", "the weighted sum of the values"),
    (r"$d_k$", r"$d_e$; $d$", "how many numbers a query and a key have"),
)


def notations_section() -> None:
    rows = [f"| {' | '.join(row)} |" for row in NOTATIONS]
    st.markdown("\n".join(["| here | elsewhere | what it is |", "|---|---|---|", *rows]))
    st.caption(
        "Some texts write α for scores and weights alike. Slips that you may meet: 28 × 28 pixels are 784, not 748; a "
        "mask is high, not low, where it matters; the paper of 2017 is called *Attention is all you need*."
    )


STEP_SIZE = 520  # screen pixels that a step's matrix and its factors may take


def step_by_step(trace: AttentionTrace) -> None:
    """Draw all the numbers, of which a cell is chosen by a click or with keys."""
    query, key = chosen_cell(step_of(trace, "weights"))

    def on_cell(step: Step, row: int, column: int) -> None:
        CELL.value |= {row_kind(step): row, column_kind(step): column}

    def style_of(step: Step) -> StepStyle:
        return StepStyle(*chosen_cell(step), STEP_SIZE)

    show_all_numbers(trace, STEPS, NAME, query=query, style_of=style_of, on_cell=on_cell, widths=(0.8, 1), key=key)
