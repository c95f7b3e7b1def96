"""Charts of language models: right numbers, right marks, Vega-Lite's own schema."""

from attention_core.charts.bars import BEFORE_AFTER, bar_table
from tests.support.charts import rows_of, valid


def test_probabilities_before_and_after_stand_side_by_side_also_under_equal_labels():
    shares = {"every head": [0.5, 0.2, 0.1], "without": [0.4, 0.3, 0.1]}
    chart = bar_table(["a", "a", "b"], shares, BEFORE_AFTER)
    valid(chart)
    rows = rows_of(chart)
    assert [row["number"] for row in rows] == [0.5, 0.2, 0.1, 0.4, 0.3, 0.1]
    assert [row["place"] for row in rows] == [0, 1, 2] * 2
