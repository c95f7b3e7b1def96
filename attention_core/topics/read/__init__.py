"""What can be said about a reading: how the drawing looks to a reader, where each look was, what to start from."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from PIL import ImageColor
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
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
    ONE_COLOUR = "one colour"
    COVERED = "covered"
    DOT = "dot"
    TOUCHING = "touching"
    LONG = "long"
    NOTHING = "nothing"
    UNFINISHED = "unfinished"


class Piece(NamedTuple):
    top: int  # first row in the picture
    left: int  # first column
    bottom: int  # last row, exclusive
    right: int  # last column, exclusive

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def width(self) -> int:
        return self.right - self.left


class LookSummary(NamedTuple):
    centre: float  # where the map's centre of mass lies, as a share of the picture's width
    on_ink: float  # share of the weight that lies on regions with ink


def pieces_of(picture: np.ndarray) -> list[Piece]:
    """Return the pieces of ink in a picture (height, width) in [0, 1], from left to right, without specks.

    Pixels that touch, corners included, belong to one piece.
    """
    ink = torch.from_numpy(np.ascontiguousarray(picture, np.float32)) >= INK_FROM
    pieces = [Piece(*box) for box in part_boxes(ink)]
    large = [piece for piece in pieces if max(piece.height, piece.width) >= SMALLEST_PIECE * len(ink)]
    return sorted(large, key=lambda piece: piece.left)


def covered_share(canvas: np.ndarray, paper: tuple[int, ...]) -> float:
    """Return the share of a canvas, uint8 (height, width, 3 or 4), that no longer has the paper's colour."""
    away = np.abs(canvas[..., :3].astype(np.int16) - np.array(paper, np.int16)).max(-1)
    return float((away > 60).mean())


def remarks_before(seen: InkPicture, strokes: Sequence[np.ndarray], covered: float) -> list[NumberRemark]:
    """Say what is unusual about a drawing, of whose canvas a share is covered, before anybody reads it."""
    if seen.remark is CanvasRemark.EMPTY:
        return [NumberRemark.ONE_COLOUR if strokes and covered > MAX_COVERED else NumberRemark.EMPTY]
    if covered > MAX_COVERED or seen.remark is CanvasRemark.FULL:
        return [NumberRemark.COVERED]
    return [NumberRemark.DOT] if seen.remark is CanvasRemark.DOT else []


def remarks_after(pieces: Sequence[Piece], reading: DigitReading) -> list[NumberRemark]:
    """Say what is unusual about a reading and its pieces of ink."""
    if not reading.digits:
        return [NumberRemark.NOTHING]
    if not reading.finished:
        return [NumberRemark.UNFINISHED]
    if max(len(reading.digits), len(pieces)) > MAX_DIGITS:
        return [NumberRemark.LONG]
    wide = any(piece.width > WIDEST_DIGIT * piece.height and piece.height > 8 for piece in pieces)
    return [NumberRemark.TOUCHING] if wide or 0 < len(pieces) < len(reading.digits) else []


def column_weights(trace: AttentionTrace) -> Tensor:
    """Return the weights of a reading summed over the rows of regions, (n_looks, n_columns); each look sums to 1."""
    rows, columns = trace.story.key_axis.grid or (1, trace.n_keys)
    return trace.weights().view(trace.n_queries, rows, columns).sum(1)


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
    model: DigitReader, canvas: np.ndarray, strokes: Sequence[np.ndarray], paper: str
) -> ReadDrawing | NumberRemark:
    """Let a model read what is drawn on paper of a colour, "#rrggbb", or return why there is nothing to read."""
    seen = ink_picture(canvas, READ_SIZE)
    before = remarks_before(seen, strokes, covered_share(canvas, ImageColor.getrgb(paper)))
    if before and before[0] in (NumberRemark.EMPTY, NumberRemark.ONE_COLOUR):
        return before[0]
    reading = model.read(torch.from_numpy(seen.picture))
    after = remarks_after(pieces_of(seen.picture), reading)
    return ReadDrawing(canvas, seen.picture, reading, (*before, *after))


def glimpses_of(trace: AttentionTrace, picture: np.ndarray) -> list[LookSummary]:
    """Return the looks of a reading of a picture (height, width) in [0, 1] in numbers; ValueError without a grid."""
    if trace.story.key_axis.grid is None:
        raise ValueError(f"trace must have keys with a grid, got {trace.story.key_axis.name!r} without one")
    rows, columns = trace.story.key_axis.grid
    weights = trace.weights().cpu()
    inked = F.adaptive_max_pool2d(torch.from_numpy(np.asarray(picture, np.float32))[None, None], (rows, columns))
    middle = (torch.arange(columns) + 0.5) / columns
    centre = weights.view(-1, rows, columns).sum(1) @ middle
    on_ink = weights @ (inked.flatten() >= INK_FROM).float()
    return [LookSummary(*numbers) for numbers in torch.stack((centre, on_ink), 1).tolist()]


def begins_at(before: str, after: str) -> int | None:
    """Return from which digit on, from 0, one reading is the rest of another; None where it is not, or is empty."""
    return len(before) - len(after) if after and before.endswith(after) else None
