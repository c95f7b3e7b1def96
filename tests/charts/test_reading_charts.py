"""Charts of a reading follow the schema and show the numbers that they were given."""

import numpy as np
import pytest

from attention_core.attention.types import Role
from attention_core.topics.read.charts import Strip, columns_chart, region_chart, strips_chart
from tests.charts.tools import rows_with, valid

GENERATOR = np.random.default_rng(0)
PAPER = np.full((48, 192, 4), 255, np.uint8)
COLUMNS = GENERATOR.dirichlet(np.ones(48), 3)
LABELS = ["1: 4", "2: 2", "3: end"]
STRIPS = [Strip("q", GENERATOR.normal(size=12), Role.QUERY), Strip("c", GENERATOR.normal(size=7), Role.CONTEXT)]

CHARTS = {
    "columns": lambda: columns_chart(PAPER, COLUMNS, LABELS, marked=1, column=5),
    "region": lambda: region_chart(np.array([1.0, -2.0, 0.5]), COLUMNS[:, 0], LABELS, marked=2),
    "strips": lambda: strips_chart(STRIPS),
}


@pytest.mark.parametrize("name", CHARTS)
def test_spec_follows_the_schema(name):
    valid(CHARTS[name]())


def test_every_look_has_a_cell_for_every_column():
    rows = rows_with(CHARTS["columns"](), "look", "column", "weight")
    assert len(rows) == COLUMNS.size
    row = next(row for row in rows if (row["look"], row["column"]) == (2, 17))
    assert row["weight"] == pytest.approx(COLUMNS[2, 17])
    assert row["label"] == "3: end"


def test_columns_lie_under_the_picture():
    chart = CHARTS["columns"]()
    picture = rows_with(chart, "url")[0]
    cells = rows_with(chart, "look", "column")
    assert (picture["left"], picture["right"]) == (0, 48)
    assert min(cell["top"] for cell in cells) > picture["bottom"]


def test_region_shows_score_and_weight_of_every_look():
    rows = rows_with(CHARTS["region"](), "score", "weight")
    assert [row["score"] for row in rows] == [1.0, -2.0, 0.5]
    assert [row["weight"] for row in rows] == pytest.approx(COLUMNS[:, 0].tolist())
    assert [row["present"] for row in rows] == [False, False, True]


def test_equal_scores_still_give_a_chart():
    chart = region_chart(np.zeros(2), np.full(2, 0.5), LABELS[:2])
    valid(chart)


def test_strips_show_every_number_of_every_vector():
    rows = rows_with(CHARTS["strips"](), "vector", "value")
    assert [row["vector"] for row in rows] == ["q"] * 12 + ["c"] * 7
    assert rows[12]["value"] == pytest.approx(STRIPS[1].values[0], abs=1e-4)
