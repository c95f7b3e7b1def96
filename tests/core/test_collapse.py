"""Any number of states in, one vector out; what laying them end to end costs."""

import pytest
import torch
from torch.testing import assert_close

from attention_core.models import build
from attention_core.topics.translate.collapse import LONGEST, collapse, cost, grown

TEXT = "The red chihuahua."


@pytest.fixture(scope="module")
def additive():
    torch.manual_seed(0)
    return build("translator-additive").eval().requires_grad_(False)


@pytest.mark.parametrize("n", [1, 4, LONGEST])
def test_any_number_of_states_becomes_one_vector(additive, n):
    made = collapse(additive, TEXT, n)
    assert made.states.shape == (n, 384)
    assert made.context.shape == (384,)
    assert_close(made.weights.sum(), torch.tensor(1.0))
    assert_close(made.context, (made.weights[:, None] * made.states).sum(0))


def test_a_short_sentence_begins_again(additive):
    assert grown(["a", "b"], 5) == ["a", "b", "a", "b", "a"]
    assert collapse(additive, TEXT, 6).words == ["The", "red", "chihuahua", ".", "The", "red"]


def test_bounds_are_told(additive):
    for n in (0, LONGEST + 1):
        with pytest.raises(ValueError, match="from 1 to"):
            collapse(additive, TEXT, n)
    with pytest.raises(ValueError, match="at least one"):
        grown([], 3)
    with pytest.raises(ValueError, match="at least 1"):
        cost(0, 3, 2)


def test_costs_of_three_states_of_five_numbers():
    price = cost(3, 5, 2)
    assert price == (5, 15, 20, 40)


def test_attention_costs_the_same_for_every_number_and_is_the_models_own_read_out(additive):
    assert {cost(n, 384, 192).attention_matrix for n in range(1, 41)} == {additive.read_out.weight.numel()}
