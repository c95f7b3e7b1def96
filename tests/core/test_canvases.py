"""Canvases become what the models see, in any colours, sizes and widths."""

import numpy as np
import pytest
import torch

from attention_core.data.canvases import CanvasRemark, colour_picture, coloured_input, ink_picture
from attention_core.data.colours import COLOURS, PEN, nearest_names, random_colours
from attention_core.data.sketches import CLUTTER_WIDTH, clutter_strokes, coloured_strokes, digit_strokes, number_strokes
from attention_core.data.strokes import draw_paths


def rgb(colour):
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def canvas_of(*pens, side=240, background=(255, 255, 255)):
    """A canvas with a horizontal line for each (row, width, colour)."""
    canvas = np.zeros((side, side, 4), np.uint8)
    canvas[:] = (*background, 255)
    for row, width, colour in pens:
        canvas[row : row + width, side // 6 : side - side // 6, :3] = rgb(colour)
    return canvas


def test_ink_stays_where_and_as_large_as_it_was_drawn():
    canvas = canvas_of((60, 24, "#000000"))
    picture = ink_picture(canvas, (60, 60)).picture
    assert picture.shape == (60, 60)
    np.testing.assert_allclose(picture[15:21, 10:50], 1)
    assert picture.sum() == pytest.approx(6 * 40)


@pytest.mark.parametrize(
    ("ink", "paper"), [("#000000", (255, 255, 255)), ("#ffffff", (0, 0, 0)), ("#cc8800", (0, 60, 90))]
)
def test_ink_is_ink_whatever_its_colour_and_the_paper_s(ink, paper):
    picture = ink_picture(canvas_of((100, 12, ink), background=paper), (60, 60)).picture
    assert picture.max() == 1
    assert (picture > 0.5).sum() == 3 * 40


def test_thin_strokes_do_not_fade():
    assert ink_picture(canvas_of((100, 1, "#000000"), side=480), (60, 60)).picture.max() == 1


def test_transparent_canvases_are_laid_on_white():
    canvas = canvas_of((100, 12, "#000000"))
    canvas[..., 3] = np.where(canvas[..., 0] == 0, 255, 0)
    assert ink_picture(canvas, (60, 60)).picture.max() == 1


@pytest.mark.parametrize("shape", [(100, 100), (200, 640)])
def test_a_canvas_of_another_shape_is_refused_in_the_words_of_its_size(shape):
    with pytest.raises(ValueError, match=f"4 times as wide as high, got {shape[1]} x {shape[0]}"):
        ink_picture(np.full((*shape, 4), 255, np.uint8), (48, 192))


@pytest.mark.parametrize(
    ("canvas", "remark"),
    [
        (canvas_of(), CanvasRemark.EMPTY),
        (canvas_of(background=(0, 0, 0)), CanvasRemark.EMPTY),
        (canvas_of((100, 40, "#000000")), None),
    ],
)
def test_unusual_canvases_are_remarked_on(canvas, remark):
    assert ink_picture(canvas, (60, 60)).remark is remark
    assert colour_picture(canvas, 64).remark is remark


def test_a_dot_and_a_canvas_painted_over_are_remarked_on():
    dot = canvas_of()
    dot[100:103, 100:103, :3] = 0
    assert ink_picture(dot, (60, 60)).remark is CanvasRemark.DOT
    noise = np.random.default_rng(0).integers(0, 255, (240, 240, 4), dtype=np.uint8)
    noise[..., 3] = 255
    assert ink_picture(noise, (60, 60)).remark is CanvasRemark.FULL


@pytest.mark.parametrize("name", COLOURS[:-1])
def test_a_thin_stroke_keeps_its_colour(name):
    seen = colour_picture(canvas_of((100, 3, PEN[name]), side=512), 64)
    row, column = np.unravel_index(seen.coverage.argmax(), seen.coverage.shape)
    np.testing.assert_allclose(seen.colours[:, row, column] * 255, rgb(PEN[name]), atol=12)


def test_neighbouring_strokes_keep_their_own_colours_and_paper_has_none():
    seen = colour_picture(canvas_of((60, 16, PEN["red"]), (150, 16, PEN["blue"])), 64)
    np.testing.assert_allclose(seen.colours[:, 18, 30] * 255, rgb(PEN["red"]), atol=4)
    np.testing.assert_allclose(seen.colours[:, 42, 30] * 255, rgb(PEN["blue"]), atol=4)
    assert (seen.colours[:, seen.coverage == 0] == 0).all()


def test_the_model_s_four_channels_are_clear_where_there_is_no_ink():
    made = coloured_input(torch.tensor([[0.0, 1.0]]), torch.tensor([[[0.0, 1.0]], [[0.0, 0.5]], [[0.0, 0.0]]]))
    assert made.shape == (4, 1, 2)
    torch.testing.assert_close(made[:, 0], torch.tensor([[0.0, 1.0], [0.0, 1.0], [0.0, 0.0], [0.0, -1.0]]))


def test_random_colours_are_nearest_to_a_pen_of_their_name_or_a_related_one():
    generator = torch.Generator().manual_seed(0)
    clear = [COLOURS.index(name) for name in ("red", "green", "blue", "black", "white", "grey", "yellow")]
    names = torch.tensor(clear).repeat(40)
    drawn = random_colours(names, generator)
    assert drawn.min() >= 0
    assert drawn.max() <= 1
    hits = [
        COLOURS[name] in [one for one, _ in nearest_names(rgb, 3)]
        for name, rgb in zip(names.tolist(), drawn, strict=True)
    ]
    assert np.mean(hits) > 0.95


def test_sketched_digits_have_the_size_and_place_that_was_asked_for():
    for digit in range(10):
        points = np.concatenate([one.path for one in digit_strokes(digit, (120, 90), 80, width=8)])
        assert points[:, 1].max() - points[:, 1].min() == pytest.approx(72)
        np.testing.assert_allclose((points.max(0) + points.min(0)) / 2, [120, 90])


@pytest.mark.parametrize("number", ["7", "42", "271828"])
def test_a_sketched_number_stays_on_its_canvas(number):
    points = np.concatenate([one.path for one in number_strokes(number, (160, 640), np.random.default_rng(1))])
    assert points.min() > 4
    assert points[:, 0].max() < 636
    assert points[:, 1].max() < 156


def test_clutter_is_known_again_by_its_pen_and_a_seed_makes_the_same_again():
    one, again = (clutter_strokes(9, 256, np.random.default_rng(4)) for _ in range(2))
    assert len(one) == 9
    assert {stroke.width for stroke in one} == {CLUTTER_WIDTH}
    assert all(np.array_equal(a.path, b.path) for a, b in zip(one, again, strict=True))
    assert max(np.ptp(stroke.path, axis=0).max() for stroke in one) <= 0.12 * 256 + 1


def test_a_composed_scene_s_digits_are_apart_and_in_colours_with_names():
    strokes = coloured_strokes(6, 320, np.random.default_rng(2))
    assert {one.colour for one in strokes} <= set(PEN.values())
    canvas = draw_paths([one.path for one in strokes], 320, 8)
    assert 0.01 < (canvas[..., 0] < 128).mean() < 0.3
