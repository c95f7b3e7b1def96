"""Canvases become what models see; their parts and digits are known again; our own drawings keep their place."""

from itertools import combinations

import numpy as np
import pytest
import torch

from attention_core.data.canvases import (
    CanvasRemark,
    PartsRemark,
    colour_picture,
    coloured_input,
    group_strokes,
    ink_picture,
    overlapping,
    part_boxes,
    parts_remark,
)
from attention_core.data.colours import (
    COLOURS,
    PEN,
    colour_name,
    hex_to_rgb,
    name_colour,
    nearest_names,
    random_colours,
    to_lab,
)
from attention_core.data.drawing import Stroke, draw_paths, smooth_path
from attention_core.data.presets import (
    CLUTTER_WIDTH,
    HEIGHT,
    MAX_DIGITS,
    MIN_DIGITS,
    N_HIDING,
    SCENES,
    STROKES,
    clutter_strokes,
    digit_strokes,
    hidden_digit,
    number_strokes,
    random_scene,
    scene_strokes,
)


def rgb(colour):
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def canvas_of(*pens, side=240, background=(255, 255, 255)):
    """A canvas with a horizontal line for each (row, width, colour)."""
    canvas = np.zeros((side, side, 4), np.uint8)
    canvas[:] = (*background, 255)
    for row, width, colour in pens:
        canvas[row : row + width, side // 6 : side - side // 6, :3] = rgb(colour)
    return canvas


def test_ink_stays_as_large_as_it_was_drawn_and_thin_or_transparent_strokes_do_not_fade():
    canvas = canvas_of((60, 24, "#000000"))
    picture = ink_picture(canvas, (60, 60)).picture
    assert picture.shape == (60, 60)
    np.testing.assert_allclose(picture[15:21, 10:50], 1)
    assert picture.sum() == pytest.approx(6 * 40)
    assert ink_picture(canvas_of((100, 1, "#000000"), side=480), (60, 60)).picture.max() == 1
    canvas = canvas_of((100, 12, "#000000"))
    canvas[..., 3] = np.where(canvas[..., 0] == 0, 255, 0)
    assert ink_picture(canvas, (60, 60)).picture.max() == 1


@pytest.mark.parametrize(
    ("ink", "paper"), [("#000000", (255, 255, 255)), ("#ffffff", (0, 0, 0)), ("#cc8800", (0, 60, 90))]
)
def test_ink_is_ink_whatever_its_colour_and_the_paper_s(ink, paper):
    picture = ink_picture(canvas_of((100, 12, ink), background=paper), (60, 60)).picture
    assert picture.max() == 1
    assert (picture > 0.5).sum() == 3 * 40


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


def test_colours_are_named_as_they_look():
    found = to_lab(torch.tensor([[1.0, 0, 0], [0, 0, 1], [1, 1, 1], [0.2, 0.2, 0.2]]))
    expected = [[53.2, 80.1, 67.2], [32.3, 79.2, -107.9], [100, 0, 0], [21.2, 0, 0]]
    torch.testing.assert_close(found, torch.tensor(expected), atol=0.1, rtol=0)
    assert [name_colour(hex_to_rgb(PEN[name])) for name in COLOURS] == [*COLOURS]
    assert name_colour(torch.tensor([0.08, 0.07, 0.07])) == "black"


def test_sketched_digits_have_their_size_and_place_and_those_of_a_scene_lie_apart():
    for digit in range(10):
        points = np.concatenate([one.path for one in digit_strokes(digit, (120, 90), 80)])
        assert points[:, 1].max() - points[:, 1].min() == pytest.approx(0.89 * 80)
        np.testing.assert_allclose((points.max(0) + points.min(0)) / 2, [120, 90])
    strokes = random_scene(2, 320)
    assert {one.colour for one in strokes} <= set(PEN.values())
    canvas = draw_paths([one.path for one in strokes], 320, 8)
    assert 0.01 < (canvas[..., 0] < 128).mean() < 0.3


@pytest.mark.parametrize("number", ["7", "42", "271828"])
def test_a_sketched_number_stays_on_its_canvas(number):
    points = np.concatenate([one.path for one in number_strokes(number, (160, 640), np.random.default_rng(1))])
    assert points.min() > 4
    assert points[:, 0].max() < 636
    assert points[:, 1].max() < 156


def test_clutter_and_scenes_are_the_same_again_from_their_seed():
    one, again = (clutter_strokes(9, 256, np.random.default_rng(4)) for _ in range(2))
    assert len(one) == 9
    assert {stroke.width for stroke in one} == {CLUTTER_WIDTH}
    assert all(np.array_equal(a.path, b.path) for a, b in zip(one, again, strict=True))
    assert max(np.ptp(stroke.path, axis=0).max() for stroke in one) <= 0.12 * 256 + 1
    whole = {len(smooth_path(np.array(stroke), 4)) for strokes in STROKES.values() for stroke in strokes}
    many = clutter_strokes(200, 256, np.random.default_rng(0))
    assert max(len(stroke.path) for stroke in many) <= max(whole) // 2, "no piece is a whole digit"
    one, again, other = (random_scene(number, SIDE) for number in (5, 5, 6))
    assert all(np.array_equal(first.path, second.path) for first, second in zip(one, again, strict=True))
    assert len(one) != len(other) or any(a.path.shape != b.path.shape for a, b in zip(one, other, strict=True))
    counts = {len(group_strokes(random_scene(number, SIDE), SIDE, PAPER)) for number in range(12)}
    assert min(counts) >= MIN_DIGITS - 1
    assert max(counts) <= MAX_DIGITS


SIDE, PAPER = 320, "#FFFFFF"


@pytest.mark.parametrize("name", SCENES)
def test_a_preset_has_as_many_digits_of_these_colours_at_these_places(name):
    found = group_strokes(scene_strokes(SCENES[name], SIDE), SIDE, PAPER)
    assert [one.colour for one in found] == [one.colour for one in SCENES[name]]
    for drawn, placed in zip(found, SCENES[name], strict=True):
        top, left, bottom, right = drawn.box
        assert ((left + right) / 2, (top + bottom) / 2) == pytest.approx((placed.x, placed.y), abs=0.01)
        assert bottom - top == pytest.approx(HEIGHT, abs=0.02)
        assert 0 <= left < right <= 1
    assert not overlapping(found)


@pytest.mark.parametrize("digit", range(10))
def test_all_strokes_of_a_digit_belong_together_and_erasing_ones_to_none(digit):
    strokes = digit_strokes(digit, (100, 120), 90, colour=PEN["red"])
    eraser = Stroke(np.array([[90.0, 100.0], [110.0, 140.0]]), 20, "#ffffff")
    (found,) = group_strokes([*strokes, eraser], SIDE, PAPER)
    assert found.strokes == tuple(range(len(strokes)))


def test_digits_over_each_other_are_noticed_and_inks_keep_them_apart():
    strokes = [
        *digit_strokes(4, (100, 100), 90, colour=PEN["red"]),
        *digit_strokes(8, (110, 105), 90, colour=PEN["blue"]),
    ]
    found = group_strokes(strokes, SIDE, PAPER)
    assert [one.colour for one in found] == ["red", "blue"]
    assert overlapping(found)


@pytest.mark.parametrize("colour", COLOURS)
def test_every_pen_is_called_by_its_name(colour):
    assert colour_name(PEN[colour]) == colour


@pytest.mark.parametrize("ink", ["#00a0a0", "#c0c000", "#d65a20"])
def test_an_ink_between_two_colours_has_no_name(ink):
    assert colour_name(ink) is None


def paper(*boxes):
    picture = np.zeros((60, 60), np.float32)
    for top, left, bottom, right in boxes:
        picture[top:bottom, left:right] = 1
    return torch.from_numpy(picture) > 0


def test_pieces_have_their_boxes_and_are_one_where_they_touch_at_a_corner_or_wind_about():
    boxes = [(2, 3, 20, 6), (30, 40, 34, 58), (50, 1, 60, 9)]
    assert sorted(part_boxes(paper(*boxes))) == boxes
    assert part_boxes(paper()) == []
    assert len(part_boxes(paper((0, 0, 5, 5), (5, 5, 9, 9)))) == 1
    spiral = paper((5, 5, 8, 50), (5, 47, 50, 50), (47, 10, 50, 50), (15, 10, 50, 13), (15, 10, 18, 40))
    assert part_boxes(spiral) == [(5, 5, 50, 50)]


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
    assert parts_remark(paper(*boxes).float().numpy()) is remark


@pytest.mark.parametrize("digit", range(10))
def test_hidden_digit_stays_on_the_canvas_and_clear_of_its_clutter(digit):
    strokes = hidden_digit(digit, (150, 100), 80, 256, np.random.default_rng(digit))
    clutter = [one.path for one in strokes if one.width == CLUTTER_WIDTH]
    ink = np.concatenate([one.path for one in strokes if one.width != CLUTTER_WIDTH])
    assert N_HIDING - 4 <= len(clutter) <= N_HIDING
    assert (ink.min(0) > 0).all()
    assert (ink.max(0) < 256).all()
    gap = min(np.linalg.norm(path[:, None] - ink[None], axis=-1).min() for path in clutter)
    assert gap > CLUTTER_WIDTH / 2 + 80 * 0.11 / 2
    for one, other in combinations(clutter, 2):
        assert np.linalg.norm(one[:, None] - other[None], axis=-1).min() > CLUTTER_WIDTH, "no two make a larger one"
    again = hidden_digit(digit, (150, 100), 80, 256, np.random.default_rng(digit))
    assert all(np.array_equal(one.path, other.path) for one, other in zip(strokes, again, strict=True))
