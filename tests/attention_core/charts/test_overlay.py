"""Maps of weights over pictures: the same colour means the same on every page."""

import numpy as np
import pytest

from attention_core.charts.overlay import glow_ramp, spot_of_light


@pytest.mark.parametrize("n", [49, 225, 784])
def test_looking_everywhere_alike_is_as_faint_for_any_number_of_regions(n):
    uniform = glow_ramp(n, 1 / n).position(np.array([1 / n]))
    assert uniform == pytest.approx(1 / 8)


def test_a_narrow_map_reaches_the_strongest_colour():
    assert glow_ramp(225, 0.75).position(np.array([0.75])) == 1
    assert glow_ramp(4, 0.25).high == 1  # eight times a quarter is no weight


def test_a_spot_of_light_leaves_the_picture_where_the_weight_is_and_fades_the_rest():
    picture, weights = np.full((80, 120, 3), 40, np.uint8), np.zeros((4, 6))
    weights[1, 1] = 1
    lit = spot_of_light(picture, weights)
    assert lit[30, 30].tolist() == [40, 40, 40]
    assert lit[70, 110].min() > 150
    assert (lit[..., 0] > lit[..., 1] + 50).any(), "a pink rim"
    assert spot_of_light(picture, 0 * weights).min() > 150
