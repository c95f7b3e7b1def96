"""Digits on paper: a photograph becomes a canvas of ink, as if drawn on a pad, by steps that can be looked at.

What makes home-made demos of MNIST fail is what lies between a photograph and the picture of 28 x 28: light that is
uneven, ruled and squared paper, a thin pen. So the paper is divided away, lines that run through the whole sheet are
subtracted, ink is told from paper by Otsu's threshold, and strokes are made as thick as a pad's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageOps
from torch import Tensor

from attention_core.data.canvases import connected_components

SIDE = 320
"""Pixels of a photograph's longer side as it is worked on; all further pixels are of this size."""
PAPER_WINDOW = 49  # pixels in which some paper is brighter than all ink
ANGLES = np.arange(-12.0, 12.5)
"""Degrees by which lines of a sheet may be turned."""
FINE_ANGLES = np.arange(-0.75, 0.8, 0.25)
CLEAR_LINES = 4.0  # times as sharp as at most angles
FAINT_LINE = 0.3  # density above which darkness is as likely a digit's
LINE_WINDOW = 0.6  # of a side: a line is as dark almost everywhere in it, a digit's bar is shorter
FAINT_SHARE = 0.3  # of a window: the density that so many of its pixels stay below is a line's
STEP = 8  # pixels between two windows
WANDER = 12  # rows between a line's end and the line
FAINTEST, DARKEST = 0.12, 1.5  # optical density, base e, below which nothing is ink, and above which all ink is alike
EDGE = 8  # pixels that count as the edge of a photograph
N_EDGES = 8  # how often what touches an edge is taken away
NARROWEST = 16  # pixels of the shorter side in which a digit is sought
SHORTEST = 0.06  # of a side: a digit's height
SLIMMEST = 0.05  # of its height: a digit's width
FULLEST = 0.35  # of all pixels: ink
WIDEST_EDGE = 0.6  # of all pixels: what touches an edge of the photograph
UNEVEN = 0.36  # standard deviation of ink's density beside its mean
UNCLEAN = 0.3  # of ink's density: what 97 of a hundred pixels of paper stay below
PEN = 0.1  # of a digit's height: how thick strokes become
DIGIT_HEIGHT = 110  # rows of a digit on the canvas
MARGIN = 18  # pixels of the canvas


Box = tuple[int, int, int, int]
"""Top, left, bottom, right, the last two exclusive."""


class HandwritingRemark(StrEnum):
    """Why a photograph is not read: there is too little ink, or something else than handwriting."""

    EMPTY = "empty"
    OTHER = "other"


@dataclass(frozen=True, eq=False)
class Handwriting:
    """A photograph of handwriting, and what becomes of it step by step, all (rows, columns) of one size."""

    density: np.ndarray  # float32: how much light ink and lines swallow, 0 = paper
    unlined: np.ndarray  # float32: the same without lines, and turned so that they are level
    ink: np.ndarray  # bool
    pieces: tuple[Box, ...]  # of the digits, from left to right
    remark: HandwritingRemark | None


def find_handwriting(pixels: np.ndarray) -> Handwriting:
    """Find ink in a photograph, uint8 (rows, columns, 3).

    Source for the threshold: Otsu 1979.
    """
    image = Image.fromarray(pixels)
    image.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
    small = torch.from_numpy(np.asarray(image, np.float32).copy())
    if min(small.shape[:2]) < NARROWEST:
        nothing = np.zeros(small.shape[:2], np.float32)
        return Handwriting(nothing, nothing, nothing > 0, (), HandwritingRemark.EMPTY)
    density = _density(small)
    unlined = _without_columns(_without_rows(density))
    strokes, outside = _ink(unlined)
    ink, pieces = _digits(strokes)
    tallest = max((bottom - top for top, _, bottom, _ in pieces), default=0)
    remark = None
    if tallest < SHORTEST * SIDE:
        remark = HandwritingRemark.EMPTY
    elif _is_other(unlined, ink, outside):
        remark = HandwritingRemark.OTHER
    return Handwriting(density.numpy(), unlined.numpy(), ink.numpy(), pieces, remark)


def _is_other(unlined: Tensor, ink: Tensor, outside: Tensor) -> bool:
    """Say whether what looks like ink is unlike a pen's on paper: large, unevenly dark, or not alone on the sheet."""
    around = unlined[F.max_pool2d((ink | outside)[None].float(), 9, 1, 4)[0] == 0]
    darkness = unlined[ink]
    contrast = float(darkness.mean())
    is_large = float(ink.float().mean()) > FULLEST or float(outside.float().mean()) > WIDEST_EDGE
    is_uneven = float(darkness.std()) > UNEVEN * contrast
    return is_large or is_uneven or not around.numel() or float(around.quantile(0.97)) > UNCLEAN * contrast


def _density(pixels: Tensor) -> Tensor:
    """Return the optical density of what lies on the paper: the paper around a pixel is the brightest there."""
    channels = pixels.permute(2, 0, 1)[None]
    smooth = F.avg_pool2d(F.pad(channels, (1, 1, 1, 1), mode="replicate"), 3, 1)
    paper = _separately(F.avg_pool2d, -_separately(F.max_pool2d, -_separately(F.max_pool2d, smooth)))
    ratio = (smooth.clamp(min=1) / paper.clamp(min=1)).clamp(max=1)
    return (-ratio.log())[0].amax(0).clamp(max=DARKEST)


def _separately(pool: Callable[[Tensor, tuple[int, int], int], Tensor], channels: Tensor) -> Tensor:
    """Pool within PAPER_WINDOW along columns, then along rows, which is quicker than both at once."""
    half = PAPER_WINDOW // 2
    columns = pool(F.pad(channels, (0, 0, half, half), mode="replicate"), (PAPER_WINDOW, 1), 1)
    return pool(F.pad(columns, (half, half, 0, 0), mode="replicate"), (1, PAPER_WINDOW), 1)


def _turn(picture: Tensor, degrees: float) -> Tensor:
    image = Image.fromarray(picture.numpy())
    return torch.from_numpy(np.asarray(image.rotate(degrees, Image.Resampling.BILINEAR)).copy())


def _line_angle(density: Tensor) -> float | None:
    """Return by how many degrees to turn a picture so that its ruled lines are level, None where it has none."""
    capped = density.clamp(max=FAINT_LINE)
    halved = F.avg_pool2d(capped[None], 2)[0]
    sharpness = torch.tensor([_sharpness(halved, degrees) for degrees in ANGLES])
    if sharpness.max() < CLEAR_LINES * sharpness.median():
        return None
    nearby = ANGLES[int(sharpness.argmax())] + FINE_ANGLES
    return float(max(nearby, key=lambda degrees: _sharpness(capped, degrees)))


def _sharpness(density: Tensor, degrees: float) -> float:
    """Return how much rows of a turned picture are darker than those beside them, away from its corners."""
    margin = min(density.shape) // 8
    rows = _turn(density, degrees)[:, margin:-margin].mean(1)
    return float((2 * rows[1:-1] - rows[:-2] - rows[2:])[margin:-margin].clamp(min=0).square().sum())


def _without_rows(density: Tensor) -> Tensor:
    """Turn a picture until its lines are level, and subtract them; without lines it stays as it is."""
    degrees = _line_angle(density)
    if degrees is None:
        return density
    upright = _turn(density, degrees)
    return (upright - _lines(upright)).clamp(min=0)


def _without_columns(density: Tensor) -> Tensor:
    """Subtract lines that run downwards, and turn nothing."""
    degrees = _line_angle(density.T)
    if degrees is None:
        return density
    return (density - _turn(_lines(_turn(density.T, degrees)), -degrees).T).clamp(min=0)


def _lines(density: Tensor) -> Tensor:
    """Return how much darker each pixel of level lines is than the rows around: by what most of its row has.

    A line reaches both sides of the picture, and may wander a little on its way; a digit's bar does not.
    """
    half = int(density.shape[1] * LINE_WINDOW) // 2
    windows = F.pad(density[None], (half, half), mode="reflect")[0].unfold(1, 2 * half + 1, STEP)
    usual = windows.kthvalue(int(FAINT_SHARE * windows.shape[-1]), -1).values
    around = -F.max_pool2d(-usual[None], (9, 1), 1, (4, 0))[0]
    lines = usual - around
    at_sides = F.max_pool2d(lines[None, :, (0, -1)], (2 * WANDER + 1, 1), 1, (WANDER, 0))[0].amin(1, keepdim=True)
    return F.interpolate(lines.minimum(at_sides)[None], density.shape[1], mode="linear")[0]


def _ink(density: Tensor) -> tuple[Tensor, Tensor]:
    """Tell ink from paper, and from what touches an edge of the photograph: the table, a hand, a shadow."""
    outside = torch.zeros_like(density, dtype=torch.bool)
    for _ in range(N_EDGES):
        ink = (density > max(_otsu(density[~outside]), FAINTEST)) & ~outside
        labels = connected_components(ink)
        rim = F.pad(torch.zeros_like(ink[EDGE:-EDGE, EDGE:-EDGE]), (EDGE,) * 4, value=True)
        edge = labels[rim]
        at_edge = torch.isin(labels, edge[edge > 0].unique())
        if not at_edge.any():
            return ink, outside
        outside |= F.max_pool2d(at_edge[None].float(), 7, 1, 3)[0] > 0
    return ink & ~outside, outside


def _otsu(densities: Tensor) -> float:
    """Return the density between two groups of pixels, so that each differs least within itself. Source: Otsu 1979."""
    n_bins, highest = 150, DARKEST
    counts = torch.histc(densities.clamp(max=highest), n_bins, 0, highest).double()
    centres = (torch.arange(n_bins).double() + 0.5) * highest / n_bins
    n_below, sum_below = counts.cumsum(0), (counts * centres).cumsum(0)
    n_above, sum_above = counts.sum() - n_below, (counts * centres).sum() - sum_below
    between = n_below * n_above * (sum_above / n_above.clamp(min=1) - sum_below / n_below.clamp(min=1)).square()
    return float(centres[between.argmax()])


def _digits(ink: Tensor) -> tuple[Tensor, tuple[Box, ...]]:
    """Return the ink of digits without specks, and a box for each from left to right.

    What lies above each other is one digit: a 5 and its bar.
    """
    labels = connected_components(F.max_pool2d(ink[None].float(), 5, 1, 2)[0] > 0) * ink
    digits: list[tuple[Box, list[int], int]] = []  # with the components of each, and their pixels
    for label in labels[labels > 0].unique().tolist():
        at = torch.nonzero(labels == label)
        box = (*at.amin(0).tolist(), *(at.amax(0) + 1).tolist())
        members, n_pixels = [label], len(at)
        for other in [digit for digit in digits if _is_above(digit[0], box)]:
            digits.remove(other)
            box = tuple(map(min, box[:2], other[0][:2])) + tuple(map(max, box[2:], other[0][2:]))
            members, n_pixels = members + other[1], n_pixels + other[2]
        digits.append((box, members, n_pixels))
    heaviest = max((n_pixels for *_, n_pixels in digits), default=0)
    heavy = [digit for digit in digits if digit[2] > 0.1 * heaviest]
    heavy = [digit for digit in heavy if not _is_slim(digit[0])] or heavy
    tallest = max((box[2] - box[0] for box, *_ in heavy), default=0)
    chosen = [digit for digit in heavy if digit[0][2] - digit[0][0] > 0.45 * tallest]
    chosen_labels = torch.tensor([label for _, members, _ in chosen for label in members], dtype=torch.long)
    return torch.isin(labels, chosen_labels) & ink, tuple(sorted((box for box, *_ in chosen), key=lambda box: box[1]))


def _is_slim(box: Box) -> bool:
    """Say whether a box is that of a sheet's margin rather than of a 1."""
    return box[3] - box[1] < SLIMMEST * (box[2] - box[0])


def _is_above(box: Box, second: Box) -> bool:
    """Say whether two boxes lie above each other, near enough for one digit."""
    width = min(box[3], second[3]) - max(box[1], second[1])
    gap = max(box[0], second[0]) - min(box[2], second[2])
    narrower = min(box[3] - box[1], second[3] - second[1])
    return width > 0.5 * narrower and gap < 0.3 * max(box[2] - box[0], second[2] - second[0])


def write_on_canvas(handwriting: Handwriting, size: tuple[int, int]) -> np.ndarray:
    """Return the ink in the middle of a white canvas (rows, columns), thick as a pad's pen, uint8 (..., 4).

    ValueError where there is none.
    """
    if not handwriting.pieces:
        raise ValueError("no ink was found in the photograph")
    boxes = np.array(handwriting.pieces)
    (top, left), (bottom, right) = boxes[:, :2].min(0), boxes[:, 2:].max(0)
    crop = torch.from_numpy(handwriting.ink[top:bottom, left:right].astype(np.float32))
    height = min(DIGIT_HEIGHT, size[0] - 2 * MARGIN)
    scale = min(height / float(np.median(boxes[:, 2] - boxes[:, 0])), (size[1] - 2 * MARGIN) / crop.shape[1])
    scale = min(scale, (size[0] - 2 * MARGIN) / crop.shape[0])
    rows, columns = (max(1, round(side * scale)) for side in crop.shape)
    large = F.interpolate(crop[None, None], (rows, columns), mode="bilinear", antialias=True)[0, 0] > 0.5
    up, across = (size[0] - rows) // 2, (size[1] - columns) // 2
    page = F.pad(large, (across, size[1] - columns - across, up, size[0] - rows - up))
    grown = _thicken(page, PEN * scale * float(np.median(boxes[:, 2] - boxes[:, 0])))
    return np.dstack([*[np.where(grown, 0, 255).astype(np.uint8)] * 3, np.full(size, 255, np.uint8)])


def _thicken(ink: Tensor, thickness: float) -> np.ndarray:
    """Return strokes, bool (rows, columns), at least so thick: as thick as their area is beside their rim."""
    inside = -F.max_pool2d(-ink[None].float(), 3, 1, 1)[0]
    present = 2 * float(ink.sum()) / max(float(ink.sum() - inside.sum()), 1.0)
    reach = max(round((thickness - present) / 2), 0)
    steps = torch.arange(-reach, reach + 1)
    disc = (steps[:, None] ** 2 + steps**2 <= reach**2 + 0.5).float()
    return (F.conv2d(ink[None, None].float(), disc[None, None], padding=reach)[0, 0] > 0).numpy()


def shrink(pixels: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return a photograph's middle as a picture of ink (rows, columns) without any of these steps, float in [0, 1]."""
    grey = Image.fromarray(pixels).convert("L")
    fitted = ImageOps.fit(grey, size[::-1], Image.Resampling.BOX)
    return 1 - np.asarray(fitted, np.float32) / 255
