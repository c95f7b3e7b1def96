"""Colours stand once: scripts paint numbers as Python does."""

from attention_core.attention.view.colours import ABOVE_ZERO, BELOW_ZERO, BLUE_ORANGE, PINKS, STRONGEST


def test_the_strongest_pink_is_as_opaque_as_maps_over_pictures_are():
    assert int(PINKS[1][-2:], 16) == round(255 * STRONGEST)


def test_blue_and_orange_meet_in_a_clear_middle():
    assert BLUE_ORANGE[:3] == BELOW_ZERO[::-1]
    assert BLUE_ORANGE[3:] == ABOVE_ZERO[1:]
    assert BLUE_ORANGE[2].endswith("00")
