"""What does attention have that a neuron lacks? A small feed-forward network, whose weights belong to inputs."""

import numpy as np
import streamlit as st

from attention_core import Role
from attention_core.bounds.harmless import as_markdown
from attention_core.charts.network import Node, layers_chart, neuron_chart, short
from pages.vectors import inputs
from pages.vectors import problem as core
from pages.vectors.inputs import Workbench
from pages.vectors.tables import NAME
from ui.chart import draw_chart
from ui.labels import number, paragraph
from ui.state import Field

HAS_TANH, IS_DEEP = Field(NAME, "bends", False, address="bends"), Field(NAME, "deep", False, address="deep")
"""Whether the feed-forward network has a non-linearity, and a second layer."""


def draw_input() -> Workbench:
    """Draw the example, its arrows, and what the network has; return the problem."""
    bench = inputs.draw_input()
    with st.container(horizontal=True, gap="medium"):
        HAS_TANH.widget(st.toggle, "Non-linearity (tanh)")
        IS_DEEP.widget(st.toggle, "Second layer")
    return bench


def answer(bench: Workbench) -> str:
    """Say how many weights each has."""
    if bench.problem.key_table != "X":
        return "A neuron has inputs X alone. Choose another example."
    n = len(bench.problem.tables["X"])
    return f"A weight for each of {n * n} pairs, made from the inputs. A neuron has {n}, one for each input."


def draw(bench: Workbench) -> None:
    """Draw the network, and the mixed effect of two inputs in it."""
    if bench.problem.key_table == "X":
        _draw_network(bench.problem.tables["X"], list(bench.problem.row_labels("X")))
    bench.draw_pairs()


def _draw_network(vectors: np.ndarray, labels: list[str]) -> None:
    network = core.feed_forward(*vectors.shape, bends=HAS_TANH.value, deep=IS_DEEP.value)
    result = short(network.answer(vectors))
    if network.second is None:
        chart = neuron_chart(network.weights[0], vectors, labels, bent=result if network.bends else "")
    else:
        units = [Node(short(unit), f"h{row}") for row, unit in enumerate(network.units(vectors), 1)]
        output = Node(result, "y", Role.OUTPUT)
        chart = layers_chart([*map(Node, labels)], network.weights, units, network.second.tolist(), output)
    picture, text_column = st.columns(2, gap="large", vertical_alignment="center")
    with picture:
        alt = "A feed-forward network: weighted sums of the inputs"
        draw_chart(chart, key="vectors_neuron", width="content", alt=alt)
    if len(labels) > 1:
        with text_column:
            _mixed_effect(network, vectors, *map(as_markdown, labels[:2]))


def _mixed_effect(network: core.FeedForward, inputs: np.ndarray, first: str, second: str) -> None:
    effect, effect_without_second = network.effect(inputs, 0), network.effect(inputs, 0, 1)
    mixed = number(network.mixed_effect(inputs, 0, 1), ".3f") if network.bends else "exactly 0"
    why = "Where layers only add, no input changes another's effect."
    if network.bends:
        depends = "may depend" if effect == effect_without_second else "depends"
        why = f"Now what one input does {depends} on the others. The weights still do not."
    paragraph(
        f"{first} adds {number(effect, '.3f')} to y, without {second} {number(effect_without_second, '.3f')}; mixed "
        f"effect: **{mixed}**. {why}"
    )
