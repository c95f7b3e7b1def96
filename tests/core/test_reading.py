"""What is said about a reading: pieces of ink, remarks, columns and looks in numbers, states to start from."""

import numpy as np
import pytest
import torch

from attention_core.data.canvases import ink_picture
from attention_core.data.scenes import READ_SIZE
from attention_core.models.digit_reader import DigitReader, DigitReading
from attention_core.topics import read

PAPER = (255, 255, 255)


@pytest.fixture(scope="module")
def picture():
    return read.written("1809")


@pytest.fixture(scope="module")
def reading(picture) -> DigitReading:
    torch.manual_seed(0)
    return DigitReader().eval().requires_grad_(False).read(torch.from_numpy(picture))


def read_as(reading: DigitReading, digits: str, finished: bool = True) -> DigitReading:
    return reading._replace(digits=digits, finished=finished)


def pieces(n: int) -> list[read.Piece]:
    return [read.Piece(10, 20 * place, 40, 20 * place + 15) for place in range(n)]


def canvas(shade=255):
    drawn = np.full((48, 192, 4), 255, np.uint8)
    drawn[..., :3] = shade
    return drawn


def test_each_digit_of_a_number_is_a_piece_of_ink(picture):
    found = read.pieces_of(picture)
    assert len(found) == 4
    assert [piece.left for piece in found] == sorted(piece.left for piece in found)
    for piece in found:
        inside = picture[piece.top : piece.bottom, piece.left : piece.right]
        assert inside.max() == 1
        assert piece.height > piece.width


def test_digits_that_touch_are_one_piece_and_specks_are_none():
    ink = np.zeros((48, 192), np.float32)
    assert read.pieces_of(ink) == []
    ink[10:40, 20:24] = ink[10:40, 50:54] = 1
    ink[5, 100] = 1
    assert [piece.left for piece in read.pieces_of(ink)] == [20, 50]
    ink[np.arange(24, 30), np.arange(24, 30)] = 1  # corners touch
    ink[29, 29:50] = 1
    assert read.pieces_of(ink) == [read.Piece(10, 20, 40, 54)]


def test_line_is_told_from_a_curve_and_from_a_point():
    assert read.is_line(np.array([[0, 0], [5, 10.2], [10, 20]]))
    assert not read.is_line(np.array([[0, 0], [10, 0], [10, 10]]))
    assert not read.is_line(np.array([[3.0, 3.0]]))


@pytest.mark.parametrize(
    ("shade", "n_strokes", "remark"), [(255, 0, read.NumberRemark.EMPTY), (0, 3, read.NumberRemark.ONE_COLOUR)]
)
def test_canvas_of_one_colour_is_empty_or_painted_over(shade, n_strokes, remark):
    seen = ink_picture(canvas(shade), READ_SIZE)
    strokes = [np.zeros((2, 2))] * n_strokes
    assert read.remarks_before(seen, strokes, read.covered_share(canvas(shade), PAPER)) == [remark]


def test_canvas_that_is_almost_black_is_painted_over():
    drawn = canvas(0)
    drawn[:6, :6, :3] = 255
    seen = ink_picture(drawn, READ_SIZE)
    assert read.remarks_before(seen, [], read.covered_share(drawn, PAPER)) == [read.NumberRemark.COVERED]


def test_one_straight_stroke_gets_its_remark_and_a_number_gets_none(picture):
    drawn = canvas()
    drawn[8:40, 90:94, :3] = 0
    line = np.array([[92.0, 8.0], [92.0, 40.0]])
    assert read.remarks_before(ink_picture(drawn, READ_SIZE), [line], 0.02) == [read.NumberRemark.LINE]
    assert read.remarks_before(ink_picture(drawn, READ_SIZE), [line, line], 0.02) == []


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
    assert read.remarks_after([read.Piece(10, 20, 40, 64)], read_as(reading, "8")) == [read.NumberRemark.TOUCHING]
    assert read.remarks_after([read.Piece(22, 20, 26, 64)], read_as(reading, "1")) == []  # a dash


def test_holes_are_counted_and_more_than_a_digit_has_mean_that_digits_cross(reading):
    picture = np.zeros((20, 40), np.float32)
    for left in (2, 14, 26):
        picture[4:14, left : left + 10] = 1
        picture[6:12, left + 2 : left + 8] = 0
    assert read.count_holes(picture) == 3
    picture[4, 8] = picture[5, 8] = 0  # the first ring is open now
    assert read.count_holes(picture) == 2
    one = [read.Piece(4, 2, 40, 36)]
    assert read.remarks_after(one, read_as(reading, "8"), 2) == []
    assert read.remarks_after(one, read_as(reading, "8"), 3) == [read.NumberRemark.TOUCHING]


def test_columns_of_every_look_sum_to_one(reading):
    columns = read.column_weights(reading.trace)
    assert columns.shape == (len(reading.probabilities), 48)
    assert (columns >= 0).all()
    torch.testing.assert_close(columns.sum(1), torch.ones(len(columns)))
    first = reading.trace.weights(rows=[0])[0].view(12, 48)
    torch.testing.assert_close(columns[0, 17], first[:, 17].sum())


def test_looks_in_numbers_agree_with_the_weights(reading, picture):
    looks, weights = read.glimpses_of(reading.trace, picture), reading.trace.weights()
    assert len(looks) == len(weights)
    row = weights[0].double()
    assert looks[0].spread == pytest.approx(float(-(row * row.log2()).sum()), abs=1e-3)
    columns = (np.arange(576) % 48 + 0.5) / 48
    assert looks[0].centre == pytest.approx(float((row.numpy() * columns).sum()), abs=1e-4)
    assert 0 < looks[0].on_ink < 1
    assert read.glimpses_of(reading.trace, np.ones_like(picture))[0].on_ink == pytest.approx(1, abs=1e-4)


def test_nearest_look_is_found_by_its_centre():
    looks = [read.LookSummary(centre, 1.0, 1.0) for centre in (0.2, 0.5, 0.8)]
    assert [read.nearest_look(place, looks) for place in (0.0, 0.6, 0.9)] == [0, 1, 2]


def test_random_state_is_as_long_as_a_usual_one_and_comes_again_with_its_seed(reading):
    one, again, other = (read.random_state(reading, seed) for seed in (3, 3, 4))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert float(one.norm()) == pytest.approx(float(reading.states[1:].norm(dim=1).mean()), rel=1e-5)


def test_reading_that_begins_later_is_known():
    assert read.begins_at("1809", "1809") == 0
    assert read.begins_at("1809", "09") == 2
    assert read.begins_at("1809", "18") is None
    assert read.begins_at("1809", "") is None


def test_written_number_is_what_the_reader_expects():
    seen = read.written("42")
    assert seen.shape == READ_SIZE
    assert len(read.pieces_of(seen)) in (2, 3)  # a four may be open
