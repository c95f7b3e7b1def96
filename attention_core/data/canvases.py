"""Canvases with several things: what a model sees of one, the parts of its ink, the digits that its strokes make."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor

from attention_core.data import drawing
from attention_core.data.colours import colour_name, hex_to_rgb, nearest_names
from attention_core.data.drawing import CanvasRemark

MAX_INK = 0.6
"""A canvas with more ink than this share is painted over rather than drawn on."""
LARGEST_SIDE = 384  # larger canvases are shrunk to this before their colours are looked at
MIN_CONTRAST = 30.0  # distance in RGB from the background below which nothing counts as drawn
NEIGHBOURHOOD = 0.05  # share of the canvas' side within which ink is taken to come from one stroke


@dataclass(frozen=True, eq=False)
class InkPicture:
    """What a model sees of a canvas in one colour."""

    picture: np.ndarray  # float32 (height, width) in [0, 1], 1 = ink
    remark: CanvasRemark | None  # what a person should be told, or None


@dataclass(frozen=True, eq=False)
class ColourPicture:
    """What a model sees of a canvas in several colours."""

    coverage: np.ndarray  # float32 (side, side) in [0, 1]: how much of a pixel is ink, whatever its colour
    colours: np.ndarray  # float32 (3, side, side) RGB in [0, 1] of the ink there; 0 where there is none
    remark: CanvasRemark | None  # what a person should be told, or None


def ink_picture(canvas: np.ndarray, size: tuple[int, int]) -> InkPicture:
    """Shrink a canvas, uint8 (height, width, 4) RGBA, to what a model sees, whatever its ink and background colours.

    Its aspect ratio is that of `size`, (height, width) of the picture, else there is a ValueError, as in ink_of.
    """
    ink = drawing.ink_of(canvas)
    _check_ratio(ink, size)
    small = resize(ink, size)
    peak = float(small.max())
    picture = np.clip(small / peak, 0, 1) if peak > 0 else small  # thin strokes fade when shrunk
    return InkPicture(picture.astype(np.float32), remark_of(ink))


def colour_picture(canvas: np.ndarray, side: int) -> ColourPicture:
    """Part a square canvas, uint8 RGBA, into how much ink lies where and which colour it has, without its background.

    A pixel at the edge of a stroke mixes ink and paper: it gets its coverage from its contrast against the strongest
    ink near it, and its colour from that ink. ValueError as in ink_picture.
    """
    opaque = drawing.flattened(canvas)
    _check_ratio(opaque, (side, side))
    background = drawing.background_of(opaque)
    if opaque.shape[0] > LARGEST_SIDE:
        opaque = np.asarray(Image.fromarray(opaque).resize((LARGEST_SIDE, LARGEST_SIDE), Image.Resampling.BOX))
    rgb = torch.from_numpy(opaque.astype(np.float32)).permute(2, 0, 1)
    contrast = (rgb - torch.from_numpy(background)[:, None, None]).square().sum(0).sqrt()
    contrast = torch.where(contrast < MIN_CONTRAST, 0, contrast)[None, None]
    reach = 2 * round(NEIGHBOURHOOD * contrast.shape[-1] / 2) + 1
    coverage = contrast / _pooled(F.max_pool2d, contrast, reach).clamp(min=MIN_CONTRAST)
    trust = coverage**4 * (contrast > 0)
    near = _pooled(F.avg_pool2d, trust, reach)
    colours = _pooled(F.avg_pool2d, trust * rgb[None] / 255, reach) / near.clamp(min=1e-6)
    mode = "area" if contrast.shape[-1] >= side else "bilinear"
    small = F.interpolate(coverage, size=(side, side), mode=mode)
    nearest = F.interpolate(colours, size=(side, side), mode="nearest-exact")[0]
    peak = float(small.max())
    small = (small[0, 0] / peak).clamp(0, 1) if peak > 0 else small[0, 0]
    has_ink = small > 0
    return ColourPicture(
        small.numpy(), (nearest * has_ink).numpy(), remark_of((coverage[0, 0] * (contrast[0, 0] > 0)).numpy())
    )


def _pooled(pool: Callable[..., Tensor], picture: Tensor, reach: int) -> Tensor:
    """Return what pooling over reach x reach pixels gives, first down and then across: nine times as fast."""
    return pool(pool(picture, (reach, 1), 1, (reach // 2, 0)), (1, reach), 1, (0, reach // 2))


def coloured_input(coverage: Tensor, colours: Tensor) -> Tensor:
    """Return the channels that a model sees, (..., 4, side, side): coverage, and colour from -1 to 1 where ink is."""
    has_ink = (coverage * 5).clamp(max=1)[..., None, :, :]
    return torch.cat((coverage[..., None, :, :], (2 * colours - 1) * has_ink), -3)


def resize(picture: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return a float32 picture (height, width) brought to a size: averaged when it shrinks, interpolated else."""
    shrinks = picture.shape[0] >= size[0]
    method = Image.Resampling.BOX if shrinks else Image.Resampling.BILINEAR
    return np.asarray(Image.fromarray(picture.astype(np.float32)).resize((size[1], size[0]), method), np.float32)


def remark_of(ink: np.ndarray) -> CanvasRemark | None:
    inked = ink > drawing.INK_THRESHOLD
    if not inked.any():
        return CanvasRemark.EMPTY
    rows, columns = np.flatnonzero(inked.any(1)), np.flatnonzero(inked.any(0))
    longest = max(rows[-1] - rows[0], columns[-1] - columns[0]) + 1
    if longest < max(4, 2 * drawing.SMALLEST_STROKE * ink.shape[0]):
        return CanvasRemark.DOT
    return CanvasRemark.FULL if inked.mean() > MAX_INK else None


def _check_ratio(canvas: np.ndarray, size: tuple[int, int]) -> None:
    ratio, expected = canvas.shape[1] / canvas.shape[0], size[1] / size[0]
    if abs(ratio / expected - 1) > 0.03:
        raise ValueError(
            f"canvas must be {expected:g} times as wide as high, got {canvas.shape[1]} x {canvas.shape[0]} pixels"
        )


INK = 0.3  # pixels above this hold together
SHORTEST, SECOND, LONGEST = 0.22, 0.27, 0.8
"""Shares of the picture's side: digits that networks were trained on are between a quarter and three quarters.
A second piece counts as another digit from SECOND on, for two pieces of clutter may touch."""


class PartsRemark(StrEnum):
    """What is unusual about the ink, for the page to say."""

    SMALL = "small"
    LARGE = "large"
    SEVERAL = "several"


def part_boxes(ink: Tensor) -> list[tuple[int, ...]]:
    """Return the boxes of the pieces of ink, bool (height, width), that touch, corners included.

    Each is (top, left, bottom, right), the last two exclusive, in reading order of each piece's first pixel.
    """
    labels = connected_components(ink)
    boxes = []
    for label in labels[labels > 0].unique().flip(0):
        rows, columns = torch.nonzero(labels == label, as_tuple=True)
        edges = (rows.min(), columns.min(), rows.max() + 1, columns.max() + 1)
        boxes.append(tuple(int(edge) for edge in edges))
    return boxes


def connected_components(inside: Tensor) -> Tensor:
    """Return one number above 0 for each region of a bool (height, width), larger for those that begin earlier.

    Pixels of one number take the largest around any of them until nothing changes; those at its corners count too.
    """
    labels = torch.arange(inside.numel(), 0, -1, device=inside.device).view(inside.shape) * inside
    while True:
        spread = F.max_pool2d(labels[None].double(), 3, 1, 1)
        largest = labels.new_zeros(inside.numel() + 1)  # around all pixels of a number
        largest.scatter_reduce_(0, labels.flatten(), (spread[0].long() * inside).flatten(), "amax")
        while not torch.equal(largest, largest[largest]):
            largest = largest[largest]
        if torch.equal(largest[labels], labels):
            return labels
        labels = largest[labels]


def parts_remark(picture: np.ndarray) -> PartsRemark | None:
    """Say whether a picture holds nothing as tall as a digit, something larger than digits are, or several digits."""
    boxes = np.array(part_boxes(torch.from_numpy(picture > INK))).reshape(-1, 4)
    shares = (boxes[:, 2:] - boxes[:, :2]) / picture.shape[0]
    if not len(boxes) or shares[:, 0].max() < SHORTEST:
        return PartsRemark.SMALL
    if shares.max() > LONGEST:
        return PartsRemark.LARGE
    return PartsRemark.SEVERAL if (shares[:, 0] >= SECOND).sum() > 1 else None


Box = tuple[float, float, float, float]
TOUCHING = 0.02  # share of the canvas' side: strokes of one ink whose edges are nearer than this make one digit
MAX_POINTS = 120  # of a stroke that are looked at


@dataclass(frozen=True)
class InkedDigit:
    """Strokes of one ink that touch each other."""

    strokes: tuple[int, ...]  # their places in the drawing, ascending
    ink: str  # "#rrggbb"
    colour: str  # what people call the ink, or the name whose pen is nearest to it
    box: Box  # (top, left, bottom, right) of the ink in shares of the canvas' side


def group_strokes(strokes: Sequence[drawing.Stroke], side: int, paper: str) -> list[InkedDigit]:
    """Group the strokes of a drawing on a square canvas into digits, in the order of their first strokes.

    Strokes without a colour are in the canvas' own ink; those of the paper's colour, "#rrggbb", erase and are no digit.
    """
    inked = [index for index, stroke in enumerate(strokes) if (stroke.colour or "").lower() != paper.lower()]
    groups: list[list[int]] = []
    for index in inked:
        near = [group for group in groups if any(_touch(strokes[index], strokes[member], side) for member in group)]
        groups = [group for group in groups if group not in near]
        groups.append(sorted([index, *(member for group in near for member in group)]))
    return [_digit(sorted(group), strokes, side) for group in sorted(groups)]


def overlapping(digits: Sequence[InkedDigit]) -> bool:
    """Say whether the boxes of two digits lie over each other by more than a third of the smaller one."""
    boxes = [digit.box for digit in digits]
    return any(_shared(box, earlier) > 1 / 3 for index, box in enumerate(boxes) for earlier in boxes[:index])


def _shared(box: Box, second: Box) -> float:
    height = min(box[2], second[2]) - max(box[0], second[0])
    width = min(box[3], second[3]) - max(box[1], second[1])
    smaller = min((bottom - top) * (right - left) for top, left, bottom, right in (box, second))
    return max(height, 0.0) * max(width, 0.0) / max(smaller, 1e-9)


def _touch(stroke: drawing.Stroke, neighbour: drawing.Stroke, side: int) -> bool:
    if (stroke.colour or "").lower() != (neighbour.colour or "").lower():
        return False
    first, second = (path[:: max(1, len(path) // MAX_POINTS)] for path in (stroke.path, neighbour.path))
    distance = float(np.linalg.norm(first[:, None] - second[None], axis=-1).min())
    return distance < (stroke.width + neighbour.width) / 2 + TOUCHING * side


def _digit(group: list[int], strokes: Sequence[drawing.Stroke], side: int) -> InkedDigit:
    low = np.min([strokes[member].path.min(0) - strokes[member].width / 2 for member in group], axis=0) / side
    high = np.max([strokes[member].path.max(0) + strokes[member].width / 2 for member in group], axis=0) / side
    (left, top), (right, bottom) = np.clip(low, 0, 1).tolist(), np.clip(high, 0, 1).tolist()
    ink = strokes[group[0]].colour or "#000000"
    colour = colour_name(ink) or nearest_names(hex_to_rgb(ink), 1)[0][0]
    return InkedDigit(tuple(group), ink, colour, (top, left, bottom, right))
