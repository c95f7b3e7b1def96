"""Composed scenes: the same from the same seed, with boxes where the ink is."""

import numpy as np
import pytest
import torch

from attention_core.data.mnist import Digits
from attention_core.data.scenes import clutter, find_scenes, glyphs_of, number_scenes


@pytest.fixture(scope="module")
def glyphs():
    """Ten frames of different heights and widths, off the middle of their pictures."""
    images = np.zeros((10, 28, 28), np.uint8)
    for number in range(10):
        top, left, height, width = 3 + number % 3, 2 + number, 18 - number, 6 + number
        images[number, top : top + height, left : left + width] = 255
        images[number, top + 3 : top + height - 3, left + 2 : left + width - 2] = 0
    return glyphs_of(Digits(images, np.arange(10, dtype=np.uint8)))


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_glyphs_fill_their_pictures_whatever_the_digit_s_place_and_size(glyphs):
    drawn = glyphs.images > 127
    rows, columns = drawn.any(2).sum(1), drawn.any(1).sum(1)
    assert (torch.maximum(rows, columns) - 28).abs().max() <= 1
    torch.testing.assert_close(rows / torch.maximum(rows, columns), glyphs.extents[:, 0], rtol=0, atol=0.08)


@pytest.mark.parametrize("make", [find_scenes, number_scenes])
def test_a_seed_makes_the_same_scenes_again_and_another_one_others(glyphs, make):
    one, again, other = (make(glyphs, 5, generator(seed)) for seed in (1, 1, 2))
    for first, second in zip(one, again, strict=True):
        assert torch.equal(first, second)
    assert not torch.equal(one.pictures, other.pictures)


def test_a_found_digit_s_ink_lies_in_its_box_and_touches_all_four_sides(glyphs):
    scenes = find_scenes(glyphs, 40, generator(), n_pieces=(0, 0))
    for picture, (box,) in zip(scenes.pictures, scenes.boxes, strict=True):
        rows, columns = ((picture > 0.3).any(axis).nonzero().flatten() for axis in (1, 0))
        found = torch.tensor([rows[0], columns[0], rows[-1] + 1, columns[-1] + 1]).float()
        assert (found - box).abs().max() < 2
        assert box.min() >= -1e-3
        assert box.max() <= 60 + 1e-3


def test_clutter_has_at_least_eight_pieces_and_covers_other_places(glyphs):
    pieces = clutter(glyphs, 30, (8, 8), 60, generator())
    assert pieces.shape == (30, 60, 60)
    assert (pieces.amax((1, 2)) > 0).all()
    assert pieces.min() >= 0
    assert pieces.max() <= 1
    assert ((pieces > 0).sum((1, 2)) <= 8 * 64).all()


def test_numbers_have_their_digits_from_left_to_right_inside_the_picture(glyphs):
    scenes = number_scenes(glyphs, 60, generator())
    assert scenes.pictures.shape == (60, 48, 192)
    counts = (scenes.labels >= 0).sum(1)
    assert set(counts.tolist()) == {1, 2, 3, 4, 5, 6}
    for labels, boxes, count in zip(scenes.labels, scenes.boxes, counts.tolist(), strict=True):
        middles = (boxes[:count, 1] + boxes[:count, 3]) / 2
        assert (middles.diff() > 0).all()
        assert (boxes[count:] == 0).all()
        assert (labels[count:] == -1).all()
        assert boxes[:count, :2].min() > -1
        assert boxes[:count, 2].max() < 49
        assert boxes[:count, 3].max() < 193


def test_all_of_a_number_s_ink_lies_in_its_boxes(glyphs):
    scenes = number_scenes(glyphs, 30, generator(3))
    rows, columns = torch.arange(48)[:, None] + 0.5, torch.arange(192) + 0.5
    for picture, boxes in zip(scenes.pictures, scenes.boxes, strict=True):
        inside = torch.zeros(48, 192, dtype=torch.bool)
        for top, left, bottom, right in boxes.tolist():
            inside |= (rows > top - 2) & (rows < bottom + 2) & (columns > left - 2) & (columns < right + 2)
        assert picture[~inside].sum() < 0.02 * picture.sum()


def test_digits_without_ink_are_refused():
    with pytest.raises(ValueError, match="ink"):
        glyphs_of(Digits(np.zeros((1, 28, 28), np.uint8), np.zeros(1, np.uint8)))
