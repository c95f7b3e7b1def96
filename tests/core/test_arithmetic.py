"""The numbers written out for one cell and one row are the trace's own."""

from dataclasses import replace

import pytest
import torch

from attention_core import Axis
from attention_core.attention.scores import number
from attention_core.attention.steps import step_of
from attention_core.explain.arithmetic import cell_formula, row_table
from tests.traces import trace_of


@pytest.fixture
def trace():
    query = torch.tensor([[[1.0, 2.0], [0.5, -1.0]]])
    key = torch.tensor([[[3.0, 4.0], [-1.0, 2.0], [0.0, 1.0]]])
    value = torch.tensor([[[1.0], [2.0], [3.0]]])
    return trace_of(query, key, value, keys=Axis("keys", ["red", "green", "blue"]))


def test_score_is_written_out_as_its_products(trace):
    text = cell_formula(trace, step_of(trace, "scores"), 0, 1, 0)
    assert text is not None
    assert all(part in text for part in ("0.5", "3", "(-1)", "4", "= -2.5"))


def test_weight_is_written_as_an_exponential_over_the_rows_sum(trace):
    text = cell_formula(trace, step_of(trace, "weights"), 0, 0, 2)
    assert text is not None
    assert number(float(trace.weights(0)[0, 2])) in text


def test_row_table_holds_the_largest_weights_and_what_is_left(trace):
    table = row_table(trace, 0, 0, 2)
    weights = trace.weights(0)[0]
    assert table["key"].tolist() == ["red", "green", "the other 1"]
    assert table["weight"].sum() == pytest.approx(1)
    assert table["weight"].iloc[0] == pytest.approx(float(weights[0]))
    assert table["exponential"].iloc[1] == pytest.approx(float(trace.scores(0)[0, 1].exp()), rel=1e-5)
    assert table["contribution"].iloc[1] == pytest.approx(float(weights[1] * 2))


def test_row_table_of_a_short_row_has_no_rest(trace):
    assert len(row_table(trace, 0, 0, 8)) == 3


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1.23456, "1.23"), (-0.5, "-0.5"), (1e-6, r"1.0 \cdot 10^{-6}"), (float("-inf"), r"-\infty")],
)
def test_numbers_are_short(value, text):
    assert number(value) == text


def test_row_table_names_no_forbidden_key(trace):
    seen = replace(trace, mask=torch.tensor([[[True, False, True], [False, True, True]]]))
    table = row_table(seen, 0, 0, 1)
    assert table["key"].tolist() == ["red", "the other 1"]
    assert table["exponential"].sum() == pytest.approx(float(seen.log_normaliser[0, 0].exp()))
    assert row_table(seen, 0, 1, 8)["key"].tolist() == ["blue", "green"]
