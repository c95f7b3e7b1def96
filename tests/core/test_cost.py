"""What n costs: expected slopes, what is left out, memory that is counted exactly."""

import pytest
import torch

from attention_core.topics.transformer import cost
from attention_core.topics.transformer.cost import (
    CostRow,
    committed,
    expected_line,
    fitted_slope,
    layer_costs,
    measure,
    measure_all,
)


def test_both_kinds_of_attention_compute_the_same():
    torch.testing.assert_close(cost.forward_pass("attention", 17)(), cost.forward_pass("fused", 17)())
    assert cost.forward_pass("recurrent", 17)().shape == (1, 17, cost.D)


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
        cost.forward_pass("magic", 3)


def test_everything_is_measured_in_turn_and_told():
    found = list(measure_all((16, 32), repeats=1))
    assert [(one.row.n, one.row.way) for one in found] == [(n, way) for n in (16, 32) for way in cost.WAYS]
    assert [one.share for one in found] == pytest.approx([number / 6 for number in range(1, 7)])
    assert all(one.row.milliseconds is not None for one in found)


def test_what_takes_too_long_or_too_much_is_left_out():
    slow = list(measure_all((16, 4096), repeats=1, most_seconds=0.0))
    assert all(one.row.milliseconds is None and "too long" in one.words for one in slow[3:])
    large = list(measure_all((1024,), repeats=1, most_megabytes=1.0))
    assert "too much memory" in large[1].words
    assert large[1].row.milliseconds is None


def test_each_way_is_measured_once():
    held = list(measure_all((16,), repeats=1))
    assert len(held) == 3


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
