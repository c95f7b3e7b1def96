"""What can be said about a reading: how the drawing looks to a reader, where each look was, what to start from."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import torch

from attention_core.data.canvases import CanvasRemark, InkPicture, ink_picture, part_boxes
from attention_core.data.scenes import MAX_DIGITS, READ_SIZE
from attention_core.models.digit_reader import CLASSES, DigitReader, DigitReading

INK_FROM = 0.3  # a pixel of the reader's picture with at least this much ink belongs to a piece
SMALLEST_PIECE = 1 / 6  # share of the picture's height below which a piece is a speck and no digit
WIDEST_DIGIT = 1.1  # width over height from which on a piece is taken for more than one digit
MAX_COVERED = 0.6  # share of a canvas that is not paper from which on it is painted over


class NumberRemark(StrEnum):
    """What is unusual about a drawn number and its reading, for the page to say."""

    EMPTY = "empty"
    SINGLE_COLOUR = "one colour"
    COVERED = "covered"
    DOT = "dot"
    TOUCHING = "touching"
    LONG = "long"
    NOTHING = "nothing"
    UNFINISHED = "unfinished"


def pieces_of(picture: np.ndarray) -> list[tuple[int, int]]:
    """Return height and width of the pieces of ink in a picture (height, width) in [0, 1], without specks.

    Pixels that touch, corners included, belong to one piece.
    """
    ink = torch.from_numpy(np.ascontiguousarray(picture, np.float32)) >= INK_FROM
    sizes = [(bottom - top, right - left) for top, left, bottom, right in part_boxes(ink)]
    return [size for size in sizes if max(size) >= SMALLEST_PIECE * len(ink)]


def remarks_before(ink: InkPicture, has_strokes: bool, covered: float) -> list[NumberRemark]:
    """Return what is unusual about a canvas before it is read; `covered` is the share of it that is not paper."""
    if ink.remark is CanvasRemark.EMPTY:
        return [NumberRemark.SINGLE_COLOUR if has_strokes and covered > MAX_COVERED else NumberRemark.EMPTY]
    if covered > MAX_COVERED or ink.remark is CanvasRemark.FULL:
        return [NumberRemark.COVERED]
    return [NumberRemark.DOT] if ink.remark is CanvasRemark.DOT else []


def remarks_after(pieces: Sequence[tuple[int, int]], reading: DigitReading) -> list[NumberRemark]:
    """Say what is unusual about a reading and its pieces of ink, see pieces_of."""
    if not reading.digits:
        return [NumberRemark.NOTHING]
    if not reading.is_finished:
        return [NumberRemark.UNFINISHED]
    if max(len(reading.digits), len(pieces)) > MAX_DIGITS:
        return [NumberRemark.LONG]
    wide = any(width > WIDEST_DIGIT * height and height > 8 for height, width in pieces)
    return [NumberRemark.TOUCHING] if wide or 0 < len(pieces) < len(reading.digits) else []


class ReadDrawing(NamedTuple):
    """A drawing, read."""

    canvas: np.ndarray  # uint8 (height, width, 4), the pad
    picture: np.ndarray  # float32 (48, 192), what the reader sees
    reading: DigitReading  # what it made of it
    remarks: tuple[NumberRemark, ...]  # what is unusual about either

    @property
    def labels(self) -> list[str]:
        return labels_of(self.reading)


def labels_of(reading: DigitReading) -> list[str]:
    """Return what was read at every look, a digit or the end."""
    return [CLASSES[number] for number in reading.probabilities.argmax(1).tolist()]


def read_drawing(
    model: DigitReader, canvas: np.ndarray, has_strokes: bool, covered: float
) -> ReadDrawing | NumberRemark:
    """Let a model read a canvas, see remarks_before, or return why there is nothing to read."""
    ink = ink_picture(canvas, READ_SIZE)
    before = remarks_before(ink, has_strokes, covered)
    if before and before[0] in (NumberRemark.EMPTY, NumberRemark.SINGLE_COLOUR):
        return before[0]
    reading = model.read(torch.from_numpy(ink.picture))
    after = remarks_after(pieces_of(ink.picture), reading)
    return ReadDrawing(canvas, ink.picture, reading, (*before, *after))
