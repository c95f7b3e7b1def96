"""What is said about a reading: pieces of ink, remarks, columns and looks in numbers, states to start from."""

import numpy as np
import pytest
import torch

from attention_core.data.canvases import ink_picture
from attention_core.data.drawing import draw_paths
from attention_core.data.presets import number_strokes
from attention_core.data.scenes import READ_SIZE
from attention_core.inference import number_reading as read
from attention_core.models.digit_reader import DigitReader, DigitReading


@pytest.fixture(scope="module")
def picture():
    """What the reader sees of a number in our own hand."""
    size = 160, 640
    strokes = number_strokes("1809", size)
    return ink_picture(draw_paths([stroke.path for stroke in strokes], size, strokes[0].width), READ_SIZE).picture


@pytest.fixture(scope="module")
def reading(picture) -> DigitReading:
    torch.manual_seed(0)
    return DigitReader().eval().requires_grad_(False).read(torch.from_numpy(picture))


def read_as(reading: DigitReading, digits: str, finished: bool = True) -> DigitReading:
    return reading._replace(digits=digits, is_finished=finished)


def pieces(n: int) -> list[tuple[int, int]]:
    return [(30, 15)] * n


def canvas(shade=255):
    pixels = np.full((48, 192, 4), 255, np.uint8)
    pixels[..., :3] = shade
    return pixels


def test_digits_are_pieces_of_ink_and_one_where_they_touch_and_specks_are_none(picture):
    pieces = read.pieces_of(picture)
    assert len(pieces) == 4
    assert all(height > width for height, width in pieces)
    ink = np.zeros((48, 192), np.float32)
    assert read.pieces_of(ink) == []
    ink[10:40, 20:24] = ink[10:40, 50:54] = 1
    ink[5, 100] = 1
    assert read.pieces_of(ink) == [(30, 4), (30, 4)]
    ink[np.arange(24, 30), np.arange(24, 30)] = 1  # corners touch
    ink[29, 29:50] = 1
    assert read.pieces_of(ink) == [(30, 34)]


@pytest.mark.parametrize(
    ("shade", "is_drawn", "remark"), [(255, False, read.NumberRemark.EMPTY), (0, True, read.NumberRemark.SINGLE_COLOUR)]
)
def test_canvas_of_one_colour_is_empty_or_painted_over(shade, is_drawn, remark):
    ink = ink_picture(canvas(shade), READ_SIZE)
    assert read.remarks_before(ink, is_drawn, float(is_drawn)) == [remark]


def test_canvas_that_is_almost_black_is_painted_over():
    pixels = canvas(0)
    pixels[:6, :6, :3] = 255
    ink = ink_picture(pixels, READ_SIZE)
    assert read.remarks_before(ink, False, 0.9) == [read.NumberRemark.COVERED]


@pytest.mark.parametrize(
    ("n_pieces", "digits", "finished", "remarks"),
    [
        (4, "1809", True, []),
        (5, "1809", True, []),  # a digit of two strokes that do not meet
        (6, "271828", True, []),
        (3, "1809", True, [read.NumberRemark.TOUCHING]),
        (7, "123456", True, [read.NumberRemark.LONG]),
        (7, "12345678", False, [read.NumberRemark.UNFINISHED]),
        (1, "", True, [read.NumberRemark.NOTHING]),
    ],
)
def test_remark_follows_from_pieces_and_digits(reading, n_pieces, digits, finished, remarks):
    assert read.remarks_after(pieces(n_pieces), read_as(reading, digits, finished)) == remarks


def test_piece_too_wide_for_a_digit_is_taken_for_digits_that_overlap(reading):
    assert read.remarks_after([(30, 44)], read_as(reading, "8")) == [read.NumberRemark.TOUCHING]
    assert read.remarks_after([(4, 44)], read_as(reading, "1")) == []  # a dash
