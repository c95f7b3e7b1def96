"""A drawing's strokes become digits again; presets and random scenes stand apart; inks have names or none."""

import numpy as np
import pytest

from attention_core.data.colours import COLOURS, PEN, name_of
from attention_core.data.drawn_digits import drawn_digits, overlapping
from attention_core.data.sketches import FEWEST, HEIGHT, MOST, SCENES, digit_strokes, random_scene, scene_strokes
from attention_core.data.stroke import Stroke

SIDE, PAPER = 320, "#FFFFFF"


@pytest.mark.parametrize("name", SCENES)
def test_a_preset_has_as_many_digits_of_these_colours_at_these_places(name):
    found = drawn_digits(scene_strokes(SCENES[name], SIDE), SIDE, PAPER)
    assert [one.colour for one in found] == [one.colour for one in SCENES[name]]
    for drawn, placed in zip(found, SCENES[name], strict=True):
        assert drawn.middle == pytest.approx((placed.x, placed.y), abs=0.01)
        top, left, bottom, right = drawn.box
        assert bottom - top == pytest.approx(HEIGHT, abs=0.02)
        assert 0 <= left < right <= 1
    assert not overlapping(found)


def test_a_random_scene_is_the_same_again_from_its_number_and_another_from_another():
    one, again, other = (random_scene(number, SIDE) for number in (5, 5, 6))
    assert all(np.array_equal(first.path, second.path) for first, second in zip(one, again, strict=True))
    assert len(one) != len(other) or any(a.path.shape != b.path.shape for a, b in zip(one, other, strict=True))
    counts = {len(drawn_digits(random_scene(number, SIDE), SIDE, PAPER)) for number in range(12)}
    assert min(counts) >= FEWEST - 1
    assert max(counts) <= MOST


@pytest.mark.parametrize("digit", range(10))
def test_all_strokes_of_a_digit_belong_together_and_erasing_ones_to_none(digit):
    strokes = digit_strokes(digit, (100, 120), 90, colour=PEN["red"])
    eraser = Stroke(np.array([[90.0, 100.0], [110.0, 140.0]]), 20, "#ffffff")
    (found,) = drawn_digits([*strokes, eraser], SIDE, PAPER)
    assert found.strokes == tuple(range(len(strokes)))


def test_digits_over_each_other_are_noticed_and_inks_keep_them_apart():
    strokes = [
        *digit_strokes(4, (100, 100), 90, colour=PEN["red"]),
        *digit_strokes(8, (110, 105), 90, colour=PEN["blue"]),
    ]
    found = drawn_digits(strokes, SIDE, PAPER)
    assert [one.colour for one in found] == ["red", "blue"]
    assert overlapping(found)
    assert [one.place for one in found] == ["top left", "top left"]


@pytest.mark.parametrize("colour", COLOURS)
def test_every_pen_is_called_by_its_name(colour):
    assert name_of(PEN[colour]) == colour


@pytest.mark.parametrize("ink", ["#00a0a0", "#c0c000", "#d65a20"])
def test_an_ink_between_two_colours_has_no_name(ink):
    assert name_of(ink) is None
