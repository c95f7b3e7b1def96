"""The small feed-forward network beside attention: by hand, against torch, and how its inputs interact."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.topics.vectors import PRESETS
from attention_core.topics.vectors.cells import feed_forward

X = PRESETS["pairs"].problem().tables["X"]
inputs = st.integers(0, 9999).map(lambda seed: np.random.default_rng(seed).normal(size=(seed % 4 + 2, seed % 3 + 1)))


@given(inputs, st.booleans(), st.booleans())
def test_the_answer_is_that_of_linear_layers(x, bends, deep):
    network = feed_forward(*x.shape, bends=bends, deep=deep)
    bend = torch.tanh if bends else torch.nn.Identity()
    units = bend(torch.from_numpy(network.weights).flatten(1) @ torch.from_numpy(x).flatten())
    expected = bend(units @ torch.from_numpy(network.second)) if deep else units[0]
    np.testing.assert_allclose(network.units(x), units)
    assert network.answer(x) == pytest.approx(float(expected))


@given(inputs, st.booleans())
def test_sums_alone_never_mix_two_inputs(x, deep):
    network = feed_forward(*x.shape, bends=False, deep=deep)
    assert network.mixed_effect(x, 0, 1) == 0
    assert network.effect(x, 0) == pytest.approx(network.effect(x, 0, 1))


@given(inputs, st.booleans())
def test_the_mixed_effect_is_the_difference_of_four_answers_and_the_same_both_ways(x, deep):
    network = feed_forward(*x.shape, bends=True, deep=deep)
    corners = []
    for gone in ((), (0,), (1,), (0, 1)):
        less = x.copy()
        less[list(gone)] = 0
        corners.append(network.answer(less))
    expected = corners[0] - corners[1] - corners[2] + corners[3]
    assert network.mixed_effect(x, 0, 1) == pytest.approx(expected, abs=1e-9)
    assert network.mixed_effect(x, 1, 0) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("deep", [False, True])
def test_a_tanh_mixes_the_first_two_vectors_of_the_page(deep):
    assert abs(feed_forward(3, 2, bends=True, deep=deep).mixed_effect(X, 0, 1)) > 0.01


def test_the_neuron_has_the_weights_that_it_always_had():
    assert feed_forward(3, 2, bends=False, deep=False).weights[0].tolist() == [[0.8, -0.5], [-0.7, 0.6], [0.5, -0.8]]
