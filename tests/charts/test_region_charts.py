"""Regions as a picture with a square beside it, a vector's bars, what matches nothing: valid specs, right numbers."""

import numpy as np
import pytest

from attention_core.charts.palette import weights_ramp
from attention_core.topics.ask.charts import nothing_weights, region_picture, vector_bars
from tests.charts.tools import rows_of, valid

VALUES = np.random.default_rng(0).dirichlet(np.ones(13))
EMPTY, PAPER = np.array([[0.3, 0.2], [0.2, 0.1]]), np.array([[0.5, 0.4], [0.1, 0.2]])
CHARTS = {
    "regions": lambda: region_picture(VALUES, (3, 4), weights_ramp(13), title="w", extra="nothing", marked=2),
    "extra framed": lambda: region_picture(
        VALUES, (3, 4), weights_ramp(13), title="w", extra="nothing", ink=np.eye(6), marked=12
    ),
    "vector": lambda: vector_bars(VALUES, title="q", colour="#0072B2"),
    "nothing": lambda: nothing_weights([0, 1], EMPTY, PAPER, ["0", "1"]),
}


@pytest.mark.parametrize("name", CHARTS)
def test_spec_follows_the_schema(name):
    valid(CHARTS[name]())


def test_every_region_and_the_extra_key_answer_the_mouse_with_their_number():
    met = {row["region"]: row["value"] for row in rows_of(CHARTS["regions"]()) if "region" in row}
    assert next(iter(met)) == "row 1, column 1"
    assert list(met)[-1] == "nothing"
    assert list(met.values()) == pytest.approx(VALUES)


def test_a_blocked_region_has_no_number():
    values = np.where(np.arange(13) == 5, -np.inf, VALUES)
    chart = region_picture(values, (3, 4), weights_ramp(13), title="w", extra="nothing")
    assert [row["value"] for row in rows_of(chart) if row.get("region") == "row 2, column 2"] == [None]


def test_what_matches_nothing_is_the_empty_key_and_the_bare_paper():
    drawn = {
        (row["matching"], row["look"], row["part"]): row["weight"]
        for row in rows_of(CHARTS["nothing"]())
        if "part" in row
    }
    assert drawn[0, "look 1", "empty key and bare paper"] == pytest.approx(0.8)
    assert drawn[1, "look 2", "empty key alone"] == pytest.approx(0.1)
    assert len(drawn) == 8
