"""The strongest look from one word to another far away."""

import torch

from attention_core.explain.heads import FarLook, far_look
from attention_core.explain.heads.similarity import FAR
from tests.traces import of_weights


def even(n=8, n_heads=2):
    return torch.full((n_heads, n, n), 1 / n)


def test_the_largest_far_weight_is_found_and_near_ones_do_not_count():
    first, second = even(), even()
    first[0, 3, 2] = 0.99  # a neighbour
    second[1, 6, 1] = 0.8
    assert far_look([of_weights(first), of_weights(second)]) == FarLook(1, 1, 6, 1, second[1, 6, 1].item())


def test_ignored_positions_are_neither_queries_nor_keys():
    weights = even(n_heads=1)
    weights[0, 7, 0] = weights[0, 0, 7] = 0.9
    weights[0, 6, 2] = 0.4
    found = far_look([of_weights(weights)], {0})
    assert (found.query, found.key) == (6, 2)


def test_short_and_very_long_inputs_have_none():
    assert far_look([of_weights(even(n=FAR))]) is None
    assert far_look([of_weights(torch.full((1, 2500, 2500), 1 / 2500))]) is None
