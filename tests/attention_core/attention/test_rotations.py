"""Rotary positions: how far each pair is turned, and that only the distance counts."""

import torch
from torch.testing import assert_close

from attention_core.attention.rotations import rotary_angles, rotate


def test_angles_turn_slower_from_pair_to_pair_and_products_depend_on_the_distance():
    angles = rotary_angles(5, 8)
    assert angles.shape == (5, 4)
    assert (angles[1].diff() < 0).all()
    assert not angles[0].any()
    angles, vectors = rotary_angles(9, 8), torch.randn(2, 1, 8, generator=torch.Generator().manual_seed(0))
    query, key = (rotate(vector.expand(9, 8), angles) for vector in vectors)
    products = query @ key.T
    for distance in range(-8, 9):
        diagonal = products.diagonal(distance)
        assert_close(diagonal, diagonal[:1].expand_as(diagonal), atol=1e-5, rtol=0)
    assert products[0].std() > 0.01
