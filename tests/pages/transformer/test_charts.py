"""Charts of the transformer's page and of what grows with d_k: valid specs, one scale, masked cells, log axes."""

import numpy as np
import pytest
import torch

from attention_core.attention.types import Axis
from attention_core.charts.heads import heads_chart, masked_weights, mosaic
from attention_core.live_training.score_comparison import measure_scale
from pages.scoring.charts import WITH, WITHOUT, scale_chart, training_chart
from pages.transformer.charts import UNREAD, RowText, cost_chart, distance_chart, mask_chart
from tests.support.charts import rows_of, valid
from tests.support.traces import random_trace


@pytest.fixture
def layers():
    axis, mask = Axis("pieces", list("abcde")), torch.ones(1, 5, 5, dtype=torch.bool).tril()
    return [random_trace(*3 * [(3, 5, 4)], seed=seed, queries=axis, keys=axis, mask=mask) for seed in range(2)]


def test_all_heads_are_drawn_masked_cells_empty_and_those_that_are_off_marked(layers):
    weights = masked_weights(layers[0], 1)
    assert np.isnan(weights[np.triu_indices(5, 1)]).all()
    np.testing.assert_allclose(np.nansum(weights, 1), 1, rtol=1e-5)
    notes = [[f"note {layer} {head}" for head in range(3)] for layer in range(2)]
    spec = valid(heads_chart(mosaic(layers), notes, chosen=(1, 2), off=[(0, 1)], select="head"))
    rows = [row for data in spec["datasets"].values() for row in data if "note" in row]
    assert {(row["layer"], row["head"]) for row in rows} == {(layer, head) for layer in range(2) for head in range(3)}
    assert spec["params"][0]["select"]["fields"] == ["layer", "head"]
    assert "note 1 2" in str(spec["datasets"])
    assert len(str(spec)) < 60_000
    notes = [["", "", ""]] * 2
    plain, crossed = (str(valid(heads_chart(mosaic(layers), notes, chosen=(0, 0), off=off))) for off in ([], [(1, 1)]))
    assert "'is_off': True" not in plain
    assert "'is_off': True" in crossed


def test_small_and_empty_charts_are_valid():
    assert valid(distance_chart(np.arange(-4, 5), np.ones(9), "p · p"))["layer"]
    assert valid(cost_chart([], "milliseconds"))["layer"]


@pytest.mark.parametrize("field", ["milliseconds", "megabytes"])
def test_cost_stands_on_log_axes_beside_dashed_expectations(field):
    rows = [{"way": layer, "n": n, field: 0.1 * n} for layer in ("recurrent", "attention", "fused") for n in (64, 128)]
    spec = valid(cost_chart([*rows, {"way": "fused", "n": 256, field: None}], field))
    dashed, line = spec["layer"][:2]
    assert dashed["mark"]["strokeDash"]
    assert {spec["layer"][0]["encoding"][axis]["scale"]["type"] for axis in "xy"} == {"log"}
    assert len(spec["datasets"][line["data"]["name"]]) == 6


@pytest.fixture(scope="module")
def rows():
    return [row for row in measure_scale() if row.d_k in (1, 4)]


@pytest.mark.parametrize("field", ["variance", "gradient"])
def test_a_quantity_over_the_width_has_lines_with_and_without_the_division(rows, field):
    spec = scale_chart(rows, field, "a title").to_dict()
    line = spec["layer"][0] if "layer" in spec else spec
    data = spec["datasets"][line["data"]["name"]]
    assert {(row["d_k"], row["scores"]) for row in data} == {(d, name) for d in (1, 4) for name in (WITH, WITHOUT)}
    assert line["encoding"]["y"]["field"] == field
    assert spec["title"]["text"] == "a title"


def test_errors_while_training_are_lines_over_batches():
    chart = training_chart({"X Xᵀ": [1.0, 0.5], "Q Kᵀ": [0.9, 0.1]}, 10, (0.1, 1.0), "a title")
    spec = valid(chart)
    rows = rows_of(chart)
    assert [(row["trained"], row["batch"], row["error"]) for row in rows] == [
        ("X Xᵀ", 10, 1.0),
        ("X Xᵀ", 20, 0.5),
        ("Q Kᵀ", 10, 0.9),
        ("Q Kᵀ", 20, 0.1),
    ]
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0.1, 1.0]


@pytest.mark.parametrize("select", [None, "cell"])
def test_a_mask_is_valid_and_its_squares_have_the_areas_of_the_weights(select):
    n, mask = 3, np.tri(3, dtype=bool)
    weights = np.where(mask, 0.25, np.nan)
    words = {"next word": [RowText("a", True), RowText("b", False), RowText("c")]}
    chart = mask_chart(["start", "a", "b"], mask, weights, words, below=["1"] * n, select=select)
    valid(chart)
    squares, cells = chart.data["squares"], chart.data["cells"]
    sides = squares["right"] - squares["left"]
    assert sides == pytest.approx(np.where(mask, 24, 0).ravel())
    assert list(cells["opacity"]) == [1.0 if is_read else UNREAD for is_read in mask.ravel()]
    assert chart.data["behind"]["text"] == ["next word", "a ✓", "b ✗", "c"]
