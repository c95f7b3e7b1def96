"""The numbers of a cell and a row written out; erasing what attention points at; how far attention moved."""

from dataclasses import replace

import pytest
import torch

from attention_core import Axis
from attention_core.attention.scores import format_latex
from attention_core.attention.steps import cell_formula, row_table, step_of
from attention_core.faithfulness.subjects import erase_ink, ink_mask
from tests.support.traces import trace_of


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
    assert format_latex(float(trace.weights(0)[0, 2])) in text


def test_weight_that_no_exponential_shows_stands_alone():
    large, small = torch.tensor([[[40.0, 0.0]]]), torch.tensor([[[40.0, 0.0], [1.0, 0.0]]])
    too_large = trace_of(large, small)
    assert cell_formula(too_large, step_of(too_large, "weights"), 0, 0, 0) == "A_{1,1} = 1"
    for mask in ([[True, False]], [[False, False]]):
        masked = trace_of(torch.ones(1, 1, 2), torch.ones(1, 2, 2), mask=torch.tensor(mask))
        assert cell_formula(masked, step_of(masked, "weights"), 0, 0, 1) == "A_{1,2} = 0"


def test_row_table_holds_the_largest_weights_and_what_is_left(trace):
    table = row_table(trace, 0, 0, 2)
    weights = trace.weights(0)[0]
    assert table["key"].tolist() == ["red", "green", "the other one"]
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
    assert format_latex(value) == text


def test_row_table_names_no_forbidden_key(trace):
    masked = replace(trace, mask=torch.tensor([[[True, False, True], [False, True, True]]]))
    table = row_table(masked, 0, 0, 1)
    assert table["key"].tolist() == ["red", "the other one"]
    assert table["exponential"].sum() == pytest.approx(float(masked.log_normaliser[0, 0].exp()))
    assert row_table(masked, 0, 1, 8)["key"].tolist() == ["blue", "green"]


@pytest.fixture
def image():
    picture = torch.zeros(28, 28)
    picture[4:24, 13:16] = 0.9  # 60 ink pixels
    picture[4, 10] = 0.2  # a grey pixel is no ink
    return picture


def test_highest_erases_the_most_important_ink_and_nothing_else(image):
    importance = torch.arange(784.0)
    erased = erase_ink(image, importance, 7)
    removed = erased != image
    ink = ink_mask(image).flatten().nonzero().flatten()
    assert removed.flatten().nonzero().flatten().tolist() == ink[-7:].tolist()
    assert (erased[removed] == 0).all()


def test_no_more_than_the_ink_can_be_erased(image):
    assert int((erase_ink(image, torch.ones(784), 10_000) != image).sum()) == 60
