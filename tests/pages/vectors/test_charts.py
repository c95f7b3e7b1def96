"""The workbench's charts: specs that follow the schema, numbers where they belong."""

import numpy as np
import pytest

from attention_core.attention.view.colours import DOWN, UP
from attention_core.charts.network import Node, layers_chart, neuron_chart, short
from pages.vectors.charts import hull_chart
from tests.support.charts import valid

GENERATOR = np.random.default_rng(0)
LEFT, RIGHT = GENERATOR.normal(size=(3, 2)), GENERATOR.normal(size=(2, 4))
NODES = [Node("a", "x"), Node('b"'), Node("c")]


CHARTS = {
    "hull": lambda: hull_chart(LEFT, LEFT.mean(0), np.ones(3) / 3, list("abc"), "y"),
    "hull of one point": lambda: hull_chart(LEFT[:1], LEFT[0], np.ones(1), ["a"], "x"),
    "neuron": lambda: neuron_chart(LEFT, LEFT, ["a", 'b"', "c"]),
    "neuron with a tanh": lambda: neuron_chart(LEFT, LEFT, ["a", 'b"', "c"], bent="0.5"),
    "two layers": lambda: layers_chart(NODES, np.stack([LEFT, -LEFT]), NODES[:2], [1.2, -0.8], NODES[0]),
}


@pytest.mark.parametrize("name", CHARTS)
def test_spec_follows_the_schema(name):
    valid(CHARTS[name]())


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (-0.001, "0"), (1.5, "1.5"), (250.4, "250"), (2e6, "2e+06"), (-1.5, "−1.5")]
)
def test_numbers_fit_a_cell(value, text):
    assert short(value) == text


def test_a_line_is_as_wide_as_its_weight_and_has_the_colour_of_its_sign():
    weights = np.array([[[2.0], [-1.0]], [[0.0], [0.5]]])
    data = layers_chart(NODES[:2], weights, NODES[:2], [3, -3], NODES[2]).data
    first, last = data["first"], data["last"]
    assert first["width"].tolist() == [5.0, 2.5, 0.0, 1.25]
    assert first["fill"][:2] == last["fill"] == [UP, DOWN]
    assert first["text"][:2] == ["2", "−1"]
