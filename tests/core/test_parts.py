"""Pieces of ink and their boxes; a hidden digit keeps clear of its clutter."""

import numpy as np
import pytest

from attention_core.data.parts import PartsRemark, ink_parts, parts_remark
from attention_core.data.sketches import CLUTTER_WIDTH, hidden_digit


def paper(*boxes):
    picture = np.zeros((60, 60), np.float32)
    for top, left, bottom, right in boxes:
        picture[top:bottom, left:right] = 1
    return picture


def test_boxes_of_the_pieces_are_right():
    boxes = [(2, 3, 20, 6), (30, 40, 34, 58), (50, 1, 60, 9)]
    assert sorted(map(tuple, ink_parts(paper(*boxes)).tolist())) == boxes
    assert ink_parts(paper()).shape == (0, 4)


def test_pieces_that_touch_at_a_corner_or_wind_about_are_one():
    assert len(ink_parts(paper((0, 0, 5, 5), (5, 5, 9, 9)))) == 1
    spiral = paper((5, 5, 8, 50), (5, 47, 50, 50), (47, 10, 50, 50), (15, 10, 50, 13), (15, 10, 18, 40))
    assert ink_parts(spiral).tolist() == [[5, 5, 50, 50]]


@pytest.mark.parametrize(
    ("boxes", "remark"),
    [
        ([(20, 20, 40, 32)], None),
        ([(20, 20, 40, 32), (2, 2, 10, 10), (50, 40, 58, 48)], None),
        ([(30, 5, 33, 40)], PartsRemark.SMALL),
        ([], PartsRemark.SMALL),
        ([(2, 28, 58, 32)], PartsRemark.LARGE),
        ([(10, 5, 30, 15), (30, 40, 55, 50)], PartsRemark.SEVERAL),
    ],
    ids=["digit", "digit in clutter", "flat line", "nothing", "line across", "two digits"],
)
def test_remark_tells_what_is_unusual(boxes, remark):
    assert parts_remark(paper(*boxes)) is remark


@pytest.mark.parametrize("digit", range(10))
def test_hidden_digit_stays_on_the_canvas_and_clear_of_its_clutter(digit):
    strokes = hidden_digit(digit, (150, 100), 80, 256, np.random.default_rng(digit))
    clutter = [one.path for one in strokes if one.width == CLUTTER_WIDTH]
    ink = np.concatenate([one.path for one in strokes if one.width != CLUTTER_WIDTH])
    assert 8 <= len(clutter) <= 12
    assert (ink.min(0) > 0).all()
    assert (ink.max(0) < 256).all()
    gap = min(np.linalg.norm(path[:, None] - ink[None], axis=-1).min() for path in clutter)
    assert gap > CLUTTER_WIDTH / 2 + 80 * 0.11 / 2
    again = hidden_digit(digit, (150, 100), 80, 256, np.random.default_rng(digit))
    assert all(np.array_equal(one.path, other.path) for one, other in zip(strokes, again, strict=True))
