"""The workbench's charts: specs that follow the schema, numbers where they belong."""

import numpy as np
import pytest

from attention_core.attention.types import Role
from attention_core.topics.vectors.charts import (
    Factor,
    column_bars,
    hull_chart,
    layers_chart,
    neuron_chart,
    product_cell,
    product_chart,
    short,
)
from tests.charts.tools import rows_of, valid

GENERATOR = np.random.default_rng(0)
LEFT, RIGHT = GENERATOR.normal(size=(3, 2)), GENERATOR.normal(size=(2, 4))


def factor(name, values):
    return Factor(name, values, Role.QUERY)


def product(**more):
    given = {"cell": 40, "row": 1, "column": 2, "select": "cell", "title": "scores"} | more
    return product_chart(
        factor("X", LEFT), factor("W", RIGHT), factor("Q", LEFT @ RIGHT), ["a", "b", "c"], list("1234"), **given
    )


CHARTS = {
    "product": product,
    "product without numbers": lambda: product(cell=20),
    "hull": lambda: hull_chart(LEFT, LEFT / 2, np.ones(3) / 3, list("abc"), list("xyz"), 1),
    "hull of one point": lambda: hull_chart(LEFT[:1], LEFT[:1], np.ones(1), ["a"], ["x"], 0),
    "neuron": lambda: neuron_chart(LEFT, LEFT, ["a", 'b"', "c"]),
    "neuron with a tanh": lambda: neuron_chart(LEFT, LEFT, ["a", 'b"', "c"], bent="0.5"),
    "two layers": lambda: layers_chart(np.stack([LEFT, -LEFT]), [0.1, -0.2], [1.2, -0.8], 0.3, ["a", 'b"', "c"]),
    "bars": lambda: column_bars(np.array([1, 2, 0]), ["a", 'b"', "c"], role=Role.SCORES, title="s", marked=1),
}


@pytest.mark.parametrize("name", CHARTS)
def test_spec_follows_the_schema(name):
    valid(CHARTS[name]())


def cells(chart):
    return [row for row in rows_of(chart) if "fill" in row]


def test_the_result_cell_lies_where_its_row_and_its_column_cross():
    drawn = {(one["matrix"], one["row"], one["col"]): one for one in cells(product())}
    result, row, column = drawn["Q", 1, 2], drawn["X", 1, 0], drawn["W", 0, 2]
    assert (result["top"], result["left"]) == (row["top"], column["left"])
    assert result["value"] == pytest.approx(float(LEFT[1] @ RIGHT[:, 2]))


def test_shapes_that_do_not_multiply_are_refused():
    with pytest.raises(ValueError, match="inner widths"):
        product_chart(
            factor("X", LEFT), factor("W", LEFT), factor("Q", LEFT), list("abc"), list("12"), cell=30, row=0, column=0
        )


def test_cells_are_as_large_as_the_screen_allows():
    assert product_cell(np.ones((3, 2)), np.ones((2, 3)), 400, 370) == 54
    assert product_cell(np.ones((6, 6)), np.ones((6, 6)), 560, 370) == 24


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (-0.001, "0"), (1.5, "1.5"), (250.4, "250"), (2e6, "2e+06"), (-1.5, "−1.5")]
)
def test_numbers_fit_a_cell(value, text):
    assert short(value) == text
