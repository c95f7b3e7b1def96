"""Scenes composed of digits: one digit among clutter, a number on a wide canvas, several coloured digits.

All randomness comes from a torch generator, so that a seed makes the same scenes again. Boxes are (top, left, bottom,
right) in pixels of the scene, bottom and right exclusive, of the ink that was laid.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.data.colours import COLOURS, FREQUENCY, random_colours
from attention_core.data.mnist import Digits

GLYPH_SIDE, GLYPH_INK = 32, 28
"""A glyph is a picture of 32 x 32 whose ink is 28 long in its longer direction, in the middle."""
INK_THRESHOLD = 0.15
FIND_SIDE = 60
READ_SIZE = (48, 192)
ASK_SIDE = 64
MAX_DIGITS = 6
TRIES = 40  # places that a digit of a drawing is tried at
PIECE = 8  # pixels along a side of a piece of clutter, after Mnih et al. 2014


class Glyphs(NamedTuple):
    """Digits cut out and brought to one size."""

    images: Tensor  # uint8 (n, 32, 32), 255 = ink
    labels: Tensor  # int64 (n,)
    extents: Tensor  # float (n, 2), height and width of the ink as shares of the longer of the two


class Scenes(NamedTuple):
    pictures: Tensor  # float (n, height, width) in [0, 1], 1 = ink
    labels: Tensor  # int64 (n, n_digits), -1 where a picture has fewer digits
    boxes: Tensor  # float (n, n_digits, 4), zeros where a picture has fewer digits


class Drawings(NamedTuple):
    """Several digits in several colours."""

    coverage: Tensor  # float (n, side, side) in [0, 1], how much of a pixel is ink
    inks: Tensor  # float (n, 3, side, side) RGB in [0, 1] of the ink; 0 where there is none
    labels: Tensor  # int64 (n, n_digits), -1 where a drawing has fewer digits
    colours: Tensor  # int64 (n, n_digits), number in COLOURS, -1 where a drawing has fewer digits
    boxes: Tensor  # float (n, n_digits, 4), zeros where a drawing has fewer digits


def glyphs_of(digits: Digits) -> Glyphs:
    """Cut digits out of their 28 x 28 pictures along their ink."""
    ink = torch.tensor(digits.images).float() / 255
    inked = ink > INK_THRESHOLD
    if not inked.flatten(1).any(1).all():
        raise ValueError("digits must have ink, got an empty picture")
    spans = [_span(inked.any(axis)) for axis in (2, 1)]  # rows, columns
    length = torch.stack([last - first for first, last in spans], 1)
    longest = length.amax(1)
    shift = torch.stack([first + last for first, last in spans], 1) / ink.shape[-1] - 1
    theta = torch.zeros(len(ink), 2, 3)
    theta[:, 0, 0] = theta[:, 1, 1] = longest * (GLYPH_SIDE / GLYPH_INK) / ink.shape[-1]
    theta[:, 0, 2], theta[:, 1, 2] = shift[:, 1], shift[:, 0]
    grid = F.affine_grid(theta, [len(ink), 1, GLYPH_SIDE, GLYPH_SIDE], align_corners=False)
    images = (F.grid_sample(ink[:, None], grid, align_corners=False)[:, 0] * 255).round().byte()
    return Glyphs(images, torch.tensor(digits.labels).long(), length / longest[:, None])


def _span(inked: Tensor) -> tuple[Tensor, Tensor]:
    """Return first and one past last true place of each row, (n,) each, as floats."""
    n = inked.shape[1]
    first = inked.int().argmax(1)
    last = n - inked.flip(1).int().argmax(1)
    return first.float(), last.float()


def lay(glyphs: Tensor, middle: Tensor, size: Tensor, height: int, width: int) -> Tensor:
    """Lay glyphs, uint8 (m, 32, 32), on empty pictures, float (m, height, width) in [0, 1].

    `middle`, (m, 2), is row and column where the glyph's middle comes to lie, `size`, (m,), the ink's longer side,
    pixels.
    """
    scale = size * (GLYPH_SIDE / GLYPH_INK) / GLYPH_SIDE  # pixels of the scene per pixel of the glyph
    rows, columns = _stretch(middle[:, 0], scale, height), _stretch(middle[:, 1], scale, width)
    return (rows @ (glyphs.float() / 255) @ columns.transpose(1, 2)).clamp(0, 1)


def _stretch(middle: Tensor, scale: Tensor, length: int) -> Tensor:
    """Return (m, length, 32): how much each pixel of a glyph gives to each pixel of a line of the scene.

    Bilinear interpolation; where a glyph shrinks, the triangle widens so that nothing is skipped.
    """
    pixel = torch.arange(length, device=middle.device) + 0.5
    source = (pixel - middle[:, None]) / scale[:, None] + GLYPH_SIDE / 2
    reach = (1 / scale).clamp(min=1)[:, None, None]
    distance = (source[..., None] - torch.arange(GLYPH_SIDE, device=middle.device) - 0.5).abs()
    return (1 - distance / reach).clamp(min=0) / reach


def boxes_of(middle: Tensor, size: Tensor, extents: Tensor) -> Tensor:
    reach = size[..., None] * extents / 2
    return torch.cat((middle - reach, middle + reach), -1)


def find_scenes(
    glyphs: Glyphs,
    n: int,
    generator: torch.Generator,
    *,
    sizes: tuple[float, float] = (15.0, 45.0),
    n_pieces: tuple[int, int] = (8, 16),
) -> Scenes:
    """Return n scenes of one digit each, anywhere, among n_pieces[0] to n_pieces[1] pieces of other digits.

    Of the digits' sizes, the longer side in pixels, small ones are commoner (even in the logarithm).

    Source: cluttered translated MNIST, Mnih et al. 2014, section 4.1.
    """
    side, chosen = FIND_SIDE, torch.randint(len(glyphs.labels), (n,), generator=generator)
    size = _between(sizes, (n,), generator)
    reach = size[:, None] * glyphs.extents[chosen] / 2
    middle = reach + torch.rand(n, 2, generator=generator) * (side - 2 * reach)
    digit = lay(glyphs.images[chosen], middle, size, side, side)
    pictures = torch.maximum(digit, clutter(glyphs, n, n_pieces, side, generator))
    boxes = boxes_of(middle, size, glyphs.extents[chosen])
    return Scenes(pictures, glyphs.labels[chosen][:, None], boxes[:, None])


def clutter(glyphs: Glyphs, n: int, n_pieces: tuple[int, int], side: int, generator: torch.Generator) -> Tensor:
    """Return pieces of 8 x 8 pixels cut out of digits 20 pixels long, strewn over empty pictures (n, side, side)."""
    max_pieces = n_pieces[1]
    if not max_pieces:
        return torch.zeros(n, side, side)
    chosen = torch.randint(len(glyphs.labels), (n * max_pieces,), generator=generator)
    small = F.interpolate(glyphs.images[chosen][:, None].float() / 255, size=(23, 23), mode="area")[:, 0]
    corner = torch.randint(23 - PIECE + 1, (2, n * max_pieces, 1, 1), generator=generator)
    line = torch.arange(PIECE)
    pieces = small[torch.arange(n * max_pieces)[:, None, None], corner[0] + line[:, None], corner[1] + line]
    present = torch.randint(n_pieces[0], max_pieces + 1, (n, 1), generator=generator) > torch.arange(max_pieces)
    pieces = pieces * present.flatten()[:, None, None]
    position = torch.randint(side - PIECE + 1, (2, n * max_pieces, 1, 1), generator=generator)
    cells = (position[0] + line[:, None]) * side + position[1] + line
    flat = torch.zeros(n, side * side)
    return flat.scatter_reduce(1, cells.view(n, -1), pieces.reshape(n, -1), "amax").view(n, side, side)


def _choose(glyphs: Glyphs, n: int, n_digits: tuple[int, int], generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return the numbers of random glyphs, (n, most), and which of them are there: fewest to most of each row."""
    fewest, max_digits = n_digits
    chosen = torch.randint(len(glyphs.labels), (n, max_digits), generator=generator)
    return chosen, torch.randint(fewest, max_digits + 1, (n, 1), generator=generator) > torch.arange(max_digits)


def _lay_all(glyphs: Tensor, present: Tensor, middle: Tensor, size: Tensor, height: int, width: int) -> Tensor:
    """Lay each of several glyphs (n, most, 32, 32) on a picture of its own, (n, most, height, width)."""
    laid = lay(glyphs.flatten(0, 1), middle.flatten(0, 1), size.flatten(), height, width)
    return laid.unflatten(0, present.shape) * present[..., None, None]


def number_scenes(glyphs: Glyphs, n: int, generator: torch.Generator) -> Scenes:
    """Return n numbers written from left to right, as people write: sizes, gaps and heights vary a little.

    The digits, at most MAX_DIGITS, are a quarter to three quarters as high as the picture.
    """
    (height, width), max_digits = READ_SIZE, MAX_DIGITS
    smallest, largest = 0.25 * height, 0.75 * height
    chosen, present = _choose(glyphs, n, (1, max_digits), generator)
    extents = glyphs.extents[chosen]
    common = _between((smallest, largest), (n, 1), generator)
    tall = (common * torch.randn(n, max_digits, generator=generator).mul(0.1).exp()).clamp(smallest, height * 0.8)
    gaps = common * _between((0.08, 0.6), (n, 1), generator) * _between((0.6, 1.7), (n, max_digits), generator)
    wide = torch.where(present, tall * extents[..., 1], 0)
    gaps = torch.where(present, gaps, 0)
    gaps[:, 0] = 0
    needed = (wide + gaps).sum(1, keepdim=True)
    fit = ((width - 6) / needed).clamp(max=1)
    tall, wide, gaps, needed = tall * fit, wide * fit, gaps * fit, needed * fit
    left = 3 + torch.rand(n, 1, generator=generator) * (width - 6 - needed)
    columns = left + (wide + gaps).cumsum(1) - wide / 2
    reach = tall * extents[..., 0] / 2
    highest = reach.amax(1, keepdim=True)
    line = highest + 1 + torch.rand(n, 1, generator=generator) * (height - 2 * highest - 2).clamp(min=0)
    rows = line + torch.randn(n, max_digits, generator=generator) * 0.06 * tall
    rows = torch.minimum(torch.maximum(rows, reach + 1), height - reach - 1)
    middle = torch.stack((rows, columns), -1)
    pictures = _lay_all(glyphs.images[chosen], present, middle, tall, height, width).amax(1)
    boxes = boxes_of(middle, tall, extents) * present[..., None]
    return Scenes(pictures, glyphs.labels[chosen].masked_fill(~present, -1), boxes)


def drawing_scenes(
    glyphs: Glyphs,
    n: int,
    generator: torch.Generator,
    *,
    n_digits: tuple[int, int] = (1, MAX_DIGITS),
    sizes: tuple[float, float] = (0.25, 0.75),
) -> Drawings:
    """Return n drawings of n_digits[0] to n_digits[1] digits in one to four colours, apart from each other.

    A digit that finds no free place after some tries is left out, so that large digits are fewer. Their sizes are
    shares of the drawing's side; small ones are commoner.
    """
    side, max_digits = ASK_SIDE, n_digits[1]
    chosen, requested = _choose(glyphs, n, n_digits, generator)
    some_large = (torch.rand(n, 1, generator=generator) < 0.5) & (requested.sum(1, keepdim=True) < 5)
    largest = torch.where(some_large, sizes[1], torch.where(requested.sum(1, keepdim=True) < 5, 1.8, 1.4) * sizes[0])
    size = side * sizes[0] * (largest / sizes[0]) ** torch.rand(n, max_digits, generator=generator)
    middle, present = _spread_middles(size[..., None] * glyphs.extents[chosen] / 2, requested, side, generator)
    boxes = boxes_of(middle, size, glyphs.extents[chosen]) * present[..., None]
    palette = torch.multinomial(
        torch.tensor([float(FREQUENCY.get(name, 1)) for name in COLOURS]).expand(n, -1), 4, generator=generator
    )
    n_colours = torch.randint(1, 5, (n, 1), generator=generator)
    names = palette.gather(1, (torch.rand(n, max_digits, generator=generator) * n_colours).long())
    rgb = random_colours(names, generator)
    coverage, top = _lay_all(glyphs.images[chosen], present, middle, size, side, side).max(1)
    shade = 1 + 0.1 * torch.randn(n, 1, side // 8, side // 8, generator=generator)
    shade = F.interpolate(shade, size=(side, side), mode="bilinear")
    inks = rgb.gather(1, top.flatten(1)[..., None].expand(-1, -1, 3)).transpose(1, 2).unflatten(2, (side, side))
    inks = (inks * shade).clamp(0, 1) * (coverage > 0)[:, None]
    labels, colours = glyphs.labels[chosen].masked_fill(~present, -1), names.masked_fill(~present, -1)
    return Drawings(coverage, inks, labels, colours, boxes)


def _spread_middles(reach: Tensor, requested: Tensor, side: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return middles (n, most, 2) of boxes of half sizes reach (n, most, 2) that do not meet, and which found a place.

    The first digit always does.
    """
    n, max_digits = reach.shape[:2]
    middle, present = torch.zeros(n, max_digits, 2), torch.zeros(n, max_digits, dtype=torch.bool)
    for number in range(max_digits):
        half_size = reach[:, number, None]
        tried = half_size + 1 + torch.rand(n, TRIES, 2, generator=generator) * (side - 2 * half_size - 2).clamp(min=0)
        apart = (tried[:, :, None] - middle[:, None]).abs() - half_size[:, :, None] - reach[:, None]
        free = ((apart > 1.0).any(-1) | ~present[:, None]).all(-1)
        present[:, number] = free.any(1) & requested[:, number]
        first = free.int().argmax(1)
        middle[:, number] = tried[torch.arange(n), first]
    return middle, present


def vary_ink(pictures: Tensor, generator: torch.Generator) -> Tensor:
    """Sharpen, thin, thicken or grey the ink of pictures (n, height, width) at random: pens and screens differ."""

    def uniform() -> Tensor:
        return torch.rand(len(pictures), 1, 1, generator=generator)

    slope, threshold = 4 ** uniform(), 0.35 + 0.25 * uniform()
    sharp = ((pictures - threshold) * slope + threshold).clamp(0, 1)
    varied = torch.where(uniform() < 0.7, sharp, pictures)
    noise = torch.randn(pictures.shape, generator=generator) * 0.08 * uniform().square()
    return (varied * (1 - 0.3 * uniform().square()) + noise).clamp(0, 1)


def _between(bounds: tuple[float, float], shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Return random numbers between two bounds, even in the logarithm."""
    ratio = bounds[1] / bounds[0]
    return bounds[0] * ratio ** torch.rand(shape, generator=generator)
