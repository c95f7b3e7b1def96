"""Experiments: other weights, and a neuron beside the pairs."""

import numpy as np
import streamlit as st

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.bounds import as_markdown
from attention_core.charts.network import Node, layers_chart, neuron_chart, short
from attention_core.topics.vectors import Problem
from attention_core.topics.vectors.experiments import FeedForward, feed_forward
from ui.chart import draw_chart
from ui.edits import WeightsRow, matrix_editor, show_contexts, show_weights_difference
from ui.glossary import paragraph
from ui.labels import number
from ui.layout import section
from ui.state import Field
from ui.vectors.problem import CELL, EDITS, NAME, attention, chosen_cell, rows_in_words

BENDS, DEEP = Field(NAME, "bends", False, address="bends"), Field(NAME, "deep", False, address="deep")


SOFTMAX_IS_OFF = "The softmax is off. Switch it on under *Change the rules*."


def change_weights(problem: Problem, trace: AttentionTrace) -> None:
    """Let a person set single weights, and draw what the query of the latest one is handed then."""
    if not trace.has_softmax:
        st.caption(SOFTMAX_IS_OFF)
        EDITS.draw(trace)
        return
    query, plain = chosen_cell(step_of(trace, "weights"))[0], attention(problem)

    def choose(row: int) -> None:
        CELL.value |= {"query": row}

    left, right = st.columns(2, gap="large")
    with left:
        matrix_editor(WeightsRow(EDITS, trace, [query], of=rows_in_words(problem), begins="row "), choose)
    with right:
        show_contexts(plain, trace, query)
        show_weights_difference(NAME, plain, trace)


def neuron_panel(problem: Problem) -> None:
    """Draw a small feed-forward network, whose weights belong to inputs, and what two inputs do together in it."""
    if problem.key_table != "X":
        st.caption("A neuron has inputs X alone. Choose another example.")
        return
    inputs, labels = problem.tables["X"], list(problem.row_labels("X"))
    n = len(labels)
    section(f"{n} inputs: {n * n} pairs for attention, none for a neuron")
    with st.container(horizontal=True, gap="medium"):
        bends = BENDS.widget(st.toggle, "Non-linearity (tanh)")
        deep = DEEP.widget(st.toggle, "Second layer")
    network = feed_forward(*inputs.shape, bends=bends, deep=deep)
    answer = network.answer(inputs)
    if network.second is None:
        chart = neuron_chart(network.weights[0], inputs, labels, bent=short(answer) if bends else "")
    else:
        units = [Node(short(unit), f"h{place + 1}") for place, unit in enumerate(network.units(inputs))]
        end = Node(short(answer), "y", Role.OUTPUT)
        chart = layers_chart([*map(Node, labels)], network.weights, units, network.second.tolist(), end)
    picture, words = st.columns([1, 1], gap="large", vertical_alignment="center")
    with picture:
        draw_chart(
            chart, key="vectors_neuron", width="content", alt="A feed-forward network: weighted sums of the inputs"
        )
    with words:
        st.markdown("A neuron has one weight per input. Attention makes one for each pair from the inputs.")
        if n > 1:
            _mixed_effect(network, inputs, *map(as_markdown, labels[:2]))


def _mixed_effect(network: FeedForward, inputs: np.ndarray, first: str, second: str) -> None:
    whole, without = network.effect(inputs, 0), network.effect(inputs, 0, 1)
    mixed = number(network.mixed_effect(inputs, 0, 1), ".3f") if network.bends else "exactly 0"
    why = (
        "Now what one input does depends on the others. The weights still do not."
        if network.bends
        else "Layers that only add never let one input change what another does."
    )
    paragraph(
        f"{first} adds {number(whole, '.3f')} to y, and {number(without, '.3f')} where {second} is gone already. The "
        f"difference is their mixed effect: **{mixed}**. {why}"
    )
