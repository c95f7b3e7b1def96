"""Charts of language models: right numbers, right marks, Vega-Lite's own schema."""

import pytest

from attention_core.charts.bars import BEFORE_AFTER, bar_table
from attention_core.charts.heads import layer_head_map
from tests.charts.tools import rows_of, valid


def test_probabilities_before_and_after_stand_side_by_side_also_under_equal_labels():
    shares = {"every head": [0.5, 0.2, 0.1], "without": [0.4, 0.3, 0.1]}
    chart = bar_table(["a", "a", "b"], shares, BEFORE_AFTER)
    valid(chart)
    rows = rows_of(chart)
    assert [row["number"] for row in rows] == [0.5, 0.2, 0.1, 0.4, 0.3, 0.1]
    assert [row["place"] for row in rows] == [0, 1, 2] * 2


@pytest.mark.parametrize("exponent", [1, 0.5])
def test_a_map_of_heads_can_spread_small_numbers(exponent):
    spec = layer_head_map([[0.1, 0.9], [0.2, 0.3]], title="change", chosen=(1, 0), exponent=exponent).to_dict()
    assert (f'"exponent": {exponent}' in str(spec).replace("'", '"')) == (exponent != 1)
