"""Positions: the waves' values, and what dot products depend on."""

import math

import pytest
import torch

from attention_core.attention import attend as positions


def test_waves_have_the_values_of_the_paper():
    table = positions.sinusoidal(7, 6)
    for position in range(7):
        for pair in range(3):
            angle = position / 10_000 ** (2 * pair / 6)
            assert float(table[position, 2 * pair]) == pytest.approx(math.sin(angle), abs=1e-5)
            assert float(table[position, 2 * pair + 1]) == pytest.approx(math.cos(angle), abs=1e-5)


def test_an_odd_width_is_refused():
    with pytest.raises(ValueError, match="d must be even, got 5"):
        positions.sinusoidal(3, 5)


def test_dot_products_of_waves_depend_on_the_distance_alone():
    found = positions.by_distance(positions.dot_products(positions.sinusoidal(40, 64)))
    torch.testing.assert_close(found.low, found.high, atol=1e-3, rtol=0)
    assert found.distances.tolist() == list(range(-20, 21))
    assert float(found.mean[20]) == pytest.approx(32)
    assert found.mean.argmax() == 20


def test_rotary_scores_depend_on_the_distance_alone_and_keep_lengths():
    query, key = torch.randn(2, 16, generator=torch.Generator().manual_seed(3))
    scores = positions.rotary_scores(query, key, 12)
    found = positions.by_distance(scores, 11)
    torch.testing.assert_close(found.low, found.high, atol=1e-4, rtol=0)
    torch.testing.assert_close(scores.diagonal(), (query @ key).expand(12))
    assert not torch.allclose(scores, scores.T)


def test_a_rotary_score_drops_with_the_distance():
    found = positions.by_distance(positions.rotary_scores(*positions.alike_pair(64), 300), 299)
    near, further, far = (
        found.mean[299 + first : 299 + last].mean() for first, last in ((0, 10), (10, 100), (100, 299))
    )
    assert found.mean.argmax() == 299
    assert near > further + 0.1 > far + 0.15


def test_angles_turn_slower_from_pair_to_pair():
    angles = positions.rotary_angles(5, 8)
    assert angles.shape == (5, 4)
    assert (angles[1].diff() < 0).all()
    assert not angles[0].any()


def test_distances_of_one_position_are_one_number():
    found = positions.by_distance(torch.ones(1, 1))
    assert found.distances.tolist() == [0]
