"""Charts of what grows with d_k."""

import pytest

from attention_core.topics.scoring.charts import WITH, WITHOUT, scale_chart, sorted_weights_chart
from attention_core.topics.scoring.compare import example_weights, measure_scale


@pytest.fixture(scope="module")
def rows():
    return measure_scale(n_queries=8, n_keys=4, dimensions=(1, 4))


@pytest.mark.parametrize("field", ["variance", "entropy", "largest", "gradient"])
def test_a_quantity_is_drawn_over_the_width_with_and_without_the_division(rows, field):
    spec = scale_chart(rows, field, "a title", reference=2.0, chosen=4).to_dict()
    line = spec["layer"][0]
    data = spec["datasets"][line["data"]["name"]]
    assert {(row["d_k"], row["scores"]) for row in data} == {(d, name) for d in (1, 4) for name in (WITH, WITHOUT)}
    assert line["encoding"]["y"]["field"] == field
    assert len(spec["layer"]) == 3
    assert spec["title"]["text"] == "a title"


def test_an_unknown_quantity_is_refused(rows):
    with pytest.raises(ValueError, match="'speed'"):
        scale_chart(rows, "speed", "")


def test_sorted_weights_are_drawn_side_by_side():
    spec = sorted_weights_chart(*(weights.tolist() for weights in example_weights(16, n_keys=5))).to_dict()
    data = next(iter(spec["datasets"].values()))
    assert len(data) == 10
    assert spec["encoding"]["y"]["scale"]["domain"] == [0, 1]
