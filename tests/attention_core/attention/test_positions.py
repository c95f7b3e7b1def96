"""Positions: the waves' values, and what their dot products depend on."""

import math

import pytest
import torch

from attention_core.attention.positions import sinusoidal


def test_waves_have_the_values_of_the_paper_and_products_that_depend_on_the_distance():
    table = sinusoidal(7, 6)
    for position in range(7):
        for pair in range(3):
            angle = position / 10_000 ** (2 * pair / 6)
            assert float(table[position, 2 * pair]) == pytest.approx(math.sin(angle), abs=1e-5)
            assert float(table[position, 2 * pair + 1]) == pytest.approx(math.cos(angle), abs=1e-5)
    with pytest.raises(ValueError, match="d must be even, got 5"):
        sinusoidal(3, 5)
    waves = sinusoidal(40, 64)
    products = waves @ waves.T
    for distance in range(20):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), atol=1e-3, rtol=0)
    assert products[20].argmax() == 20
    assert float(products[20, 20]) == pytest.approx(32)
