"""What n costs: expected slopes, memory that is counted exactly."""

import pytest
import torch

from attention_core.topics.transformer import cost
from attention_core.topics.transformer.cost import CostRow, committed, expected_line, fitted_slope, layer_costs
from benchmarks.cost import forward_pass, measure


def test_both_kinds_of_attention_compute_the_same():
    torch.testing.assert_close(forward_pass("attention", 17)(), forward_pass("fused", 17)())
    assert forward_pass("recurrent", 17)().shape == (1, 17, cost.D)


def test_memory_is_that_of_scores_and_weights_or_of_the_result():
    whole, fused = measure("attention", 1024, 1).megabytes, measure("fused", 1024, 1).megabytes
    assert whole == pytest.approx(2 * 4 * 1024**2 / 2**20, rel=0.2)
    assert 4 * 1024 * cost.D / 2**20 <= fused < whole / 2


def test_slopes_are_fitted_and_expected_on_log_axes():
    rows = [CostRow("attention", n, 3e-4 * n**2, 1e-5 * n**2) for n in (64, 128, 256)]
    assert fitted_slope(rows, "attention", "milliseconds") == pytest.approx(2)
    assert expected_line(rows, "attention", "milliseconds")[0] == pytest.approx((64, rows[0].milliseconds))
    assert fitted_slope(rows[:1], "attention", "megabytes") is None
    assert expected_line([], "fused", "megabytes") == []
    with pytest.raises(ValueError, match="milliseconds or megabytes"):
        cost.expected_slope("fused", "hours")
    with pytest.raises(ValueError, match="way must be one of"):
        forward_pass("magic", 3)


def test_committed_figures_have_the_expected_slopes():
    rows = committed().rows
    assert len(rows) >= 21
    for way in cost.WAYS:
        for field in ("milliseconds", "megabytes"):
            slope = fitted_slope(rows, way, field)
            # a matrix that outgrows the processor's cache costs more than its number of cells
            assert slope == pytest.approx(cost.expected_slope(way, field), abs=0.5), (way, field)


def test_missing_figures_are_no_figures(monkeypatch, tmp_path):
    monkeypatch.setattr(cost, "COMMITTED", tmp_path / "none.json")
    assert committed().rows == []


def test_table_counts_multiplications_steps_and_paths():
    recurrent, attention = layer_costs(10, 192)
    assert recurrent.work == "n d² = 368,640"
    assert attention.work == "n² d = 19,200"
    assert (recurrent.steps, attention.steps, recurrent.path, attention.path) == ("n = 10", "1", "n = 10", "1")
