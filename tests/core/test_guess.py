"""Predict, then see: what can be guessed, and what a guess was worth."""

import pytest
import torch

from attention_core.attention.steps import step_of
from attention_core.explain.guess import compare, options
from tests.traces import trace_of


@pytest.fixture
def weights():
    """Weights of four queries over nine keys: largest at 8, 4, 2, key 0 hidden from these; the last are all alike."""
    query = torch.zeros(4, 9)
    query[:3] = 3 * torch.eye(9)[[8, 4, 2]] + torch.linspace(0.9, 0, 9)
    mask = torch.ones(4, 9, dtype=torch.bool)
    mask[:3, 0] = False
    key = torch.eye(9)[None]
    return step_of(trace_of(query[None], key, mask=mask), "weights")


def test_options_hold_the_largest_and_are_in_order(weights):
    for row, best in enumerate((8, 4, 2)):
        offered = options(weights, 0, row)
        assert len(offered) == 3
        assert best in offered
        assert offered == sorted(offered)


def test_nothing_to_guess_among_equal_numbers(weights):
    assert options(weights, 0, 3) == []


def test_guess_is_compared_with_the_largest_of_its_row(weights):
    right = compare(weights, 0, 0, 8)
    assert (right.best, right.rank, right.value) == (8, 0, right.largest)
    wrong = compare(weights, 0, 0, 0)  # hidden by the mask
    assert (wrong.best, wrong.rank, wrong.value) == (8, 8, 0.0)
