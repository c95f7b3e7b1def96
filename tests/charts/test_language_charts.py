"""Charts of language models: right numbers, right marks, Vega-Lite's own schema."""

import numpy as np
import pytest

from attention_core.attention.types import Role
from attention_core.charts.bars import before_after_chart
from attention_core.charts.heads import MAX_TOOLTIPS, cache_chart, layer_head_map
from attention_core.charts.vega import ROLE_COLOURS
from tests.charts.tools import rows_of, valid

LENGTHS = np.arange(1.0, 22.0).reshape(3, 7)


def test_the_cache_has_a_column_per_token_and_frames_the_newest():
    lengths = LENGTHS.copy()
    lengths[2, :4] = np.nan
    chart = cache_chart(lengths, [2, 1], ["the", " cat", "the", " sat", "</s>", "'", '"'], role=Role.KEY)
    spec = valid(chart)
    rows = rows_of(chart)
    cells = [row for row in rows if "token" in row]
    assert len(cells) == 21
    assert [row["where"] for row in cells[::7]] == ["layer 1, key head 1", "layer 1, key head 2", "layer 2, key head 1"]
    assert [row["length"] for row in cells[-7:]] == ["forgotten"] * 4 + ["19", "20", "21"]
    assert any(row.get("left") == 6 and row.get("bottom") == 3 and "token" not in row for row in rows)
    strokes = [layer["mark"].get("stroke") for layer in spec["layer"] if isinstance(layer["mark"], dict)]
    assert ROLE_COLOURS[Role.KEY] in strokes


def test_a_large_cache_is_one_image():
    many = np.random.default_rng(0).random((144, 200))
    assert many.size > MAX_TOOLTIPS
    chart = cache_chart(many, [12] * 12, ["word"] * 200, role=Role.VALUE)
    valid(chart)
    assert len(rows_of(chart)) < 10


def test_probabilities_before_and_after_stand_side_by_side_also_under_equal_labels():
    chart = before_after_chart(["a", "a", "b"], [0.5, 0.2, 0.1], [0.4, 0.3, 0.1], names=("every head", "without"))
    valid(chart)
    rows = rows_of(chart)
    assert [row["probability"] for row in rows] == [0.5, 0.2, 0.1, 0.4, 0.3, 0.1]
    assert [row["place"] for row in rows] == [0, 1, 2] * 2


@pytest.mark.parametrize("exponent", [1, 0.5])
def test_a_map_of_heads_can_spread_small_numbers(exponent):
    spec = layer_head_map([[0.1, 0.9], [0.2, 0.3]], title="change", chosen=(1, 0), exponent=exponent).to_dict()
    assert (f'"exponent": {exponent}' in str(spec).replace("'", '"')) == (exponent != 1)
