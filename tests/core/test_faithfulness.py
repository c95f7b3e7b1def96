"""Erasing what attention points at, as much ink at random, or a stroke; and how far attention moved."""

import pytest
import torch

from attention_core import UNIFORM
from attention_core.explain.faithfulness import erase_along, erase_highest, erase_random, ink_mask, mean_total_variation
from tests.traces import trace_of


@pytest.fixture
def image():
    picture = torch.zeros(28, 28)
    picture[4:24, 13:16] = 0.9  # 60 ink pixels
    picture[4, 10] = 0.2  # a grey pixel is no ink
    return picture


def test_highest_erases_the_most_important_ink_and_nothing_else(image):
    importance = torch.arange(784.0)
    erased = erase_highest(image, importance, 7)
    positions = erased.removed.flatten().nonzero().flatten()
    ink = ink_mask(image).flatten().nonzero().flatten()
    assert positions.tolist() == ink[-7:].tolist()
    assert (erased.image[erased.removed] == 0).all()
    assert torch.equal(erased.image[~erased.removed], image[~erased.removed])


def test_no_more_than_the_ink_can_be_erased(image):
    assert int(erase_highest(image, torch.ones(784), 10_000).removed.sum()) == 60
    assert int(erase_random(image, 10_000, 0).removed.sum()) == 60


def test_random_erases_ink_only_and_the_seed_decides_which(image):
    first, again, other = (erase_random(image, 20, seed).removed for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert int(first.sum()) == 20
    assert (ink_mask(image) | ~first).all()


def test_erasing_along_a_stroke_leaves_the_ink_that_is_far_from_it(image):
    picture = image.clone()
    picture[20:23, 2:26] = 1
    path = torch.stack((torch.full((24,), 21.0), torch.arange(2.0, 26)), 1)
    erased = erase_along(picture, path)
    assert not erased.image[20:23, 2:26].any()
    assert torch.equal(erased.image[:19], picture[:19])


def test_attention_that_did_not_move_is_zero_and_disjoint_attention_is_one():
    eye = torch.eye(4)[None] * 200
    here, there = (trace_of(eye, key, eye) for key in (eye, eye.roll(1, 1)))
    assert mean_total_variation(here, here) == 0
    assert mean_total_variation(here, there) == pytest.approx(1)
    assert mean_total_variation(here, here.replace(UNIFORM)) == pytest.approx(0.75)
