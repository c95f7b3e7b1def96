"""A canvas with several things on it becomes the picture that a model looks at: everything stays where it is."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor

from attention_core.data.drawing import INK_THRESHOLD, SMALLEST_STROKE, CanvasRemark, background_of, flattened, ink_of

MOST_INK = 0.6
"""A canvas with more ink than this share is painted over rather than drawn on."""
LARGEST_SIDE = 384  # larger canvases are shrunk to this before their colours are looked at
LEAST_CONTRAST = 30.0  # distance in RGB from the background below which nothing counts as drawn
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
    _check_ratio(canvas, size)
    ink = ink_of(canvas)
    small = resize(ink, size)
    peak = float(small.max())
    picture = np.clip(small / peak, 0, 1) if peak > 0 else small  # thin strokes fade when shrunk
    return InkPicture(picture.astype(np.float32), remark_of(ink))


def colour_picture(canvas: np.ndarray, side: int) -> ColourPicture:
    """Part a square canvas, uint8 RGBA, into how much ink lies where and which colour it has, without its background.

    A pixel at the edge of a stroke mixes ink and paper: it gets its coverage from its contrast against the strongest
    ink near it, and its colour from that ink. ValueError as in ink_picture.
    """
    _check_ratio(canvas, (side, side))
    opaque = flattened(canvas)
    background = background_of(opaque)
    if opaque.shape[0] > LARGEST_SIDE:
        opaque = np.asarray(Image.fromarray(opaque).resize((LARGEST_SIDE, LARGEST_SIDE), Image.Resampling.BOX))
    rgb = torch.from_numpy(opaque.astype(np.float32)).permute(2, 0, 1)
    contrast = (rgb - torch.from_numpy(background)[:, None, None]).square().sum(0).sqrt()
    contrast = torch.where(contrast < LEAST_CONTRAST, 0, contrast)[None, None]
    reach = 2 * round(NEIGHBOURHOOD * contrast.shape[-1] / 2) + 1
    strongest = _pooled(F.max_pool2d, contrast, reach)
    coverage = contrast / strongest.clamp(min=LEAST_CONTRAST)
    trust = coverage**4 * (contrast > 0)
    near = _pooled(F.avg_pool2d, trust, reach)
    colours = _pooled(F.avg_pool2d, trust * rgb[None] / 255, reach) / near.clamp(min=1e-6)
    mode = "area" if contrast.shape[-1] >= side else "bilinear"
    small = F.interpolate(coverage, size=(side, side), mode=mode)
    place = F.interpolate(colours, size=(side, side), mode="nearest-exact")[0]
    peak = float(small.max())
    small = (small[0, 0] / peak).clamp(0, 1) if peak > 0 else small[0, 0]
    there = small > 0
    return ColourPicture(
        small.numpy(), (place * there).numpy(), remark_of((coverage[0, 0] * (contrast[0, 0] > 0)).numpy())
    )


def _pooled(pool: Callable[..., Tensor], picture: Tensor, reach: int) -> Tensor:
    """Return what pooling over reach x reach pixels gives, first down and then across: nine times as fast."""
    down = pool(picture, (reach, 1), 1, (reach // 2, 0))
    return pool(down, (1, reach), 1, (0, reach // 2))


def coloured_input(coverage: Tensor, colours: Tensor) -> Tensor:
    """Return the channels that a model sees, (..., 4, side, side): coverage, and colour from -1 to 1 where ink is."""
    there = (coverage * 5).clamp(max=1)[..., None, :, :]
    return torch.cat((coverage[..., None, :, :], (2 * colours - 1) * there), -3)


def resize(picture: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return a float32 picture (height, width) brought to a size: averaged when it shrinks, interpolated else."""
    shrinks = picture.shape[0] >= size[0]
    method = Image.Resampling.BOX if shrinks else Image.Resampling.BILINEAR
    return np.asarray(Image.fromarray(picture.astype(np.float32)).resize((size[1], size[0]), method), np.float32)


def remark_of(ink: np.ndarray) -> CanvasRemark | None:
    drawn = ink > INK_THRESHOLD
    if not drawn.any():
        return CanvasRemark.EMPTY
    rows, columns = np.flatnonzero(drawn.any(1)), np.flatnonzero(drawn.any(0))
    longest = max(rows[-1] - rows[0], columns[-1] - columns[0]) + 1
    if longest < max(4, 2 * SMALLEST_STROKE * ink.shape[0]):
        return CanvasRemark.DOT
    return CanvasRemark.FULL if drawn.mean() > MOST_INK else None


def _check_ratio(canvas: np.ndarray, size: tuple[int, int]) -> None:
    canvas = np.asarray(canvas)
    if canvas.ndim < 2 or 0 in canvas.shape:
        raise ValueError(f"canvas must be a non-empty uint8 picture, got {canvas.dtype} {canvas.shape}")
    ratio, wanted = canvas.shape[1] / canvas.shape[0], size[1] / size[0]
    if abs(ratio / wanted - 1) > 0.03:
        raise ValueError(
            f"canvas must be {wanted:g} times as wide as high, got {canvas.shape[1]} x {canvas.shape[0]} pixels"
        )
