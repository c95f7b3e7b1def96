"""A drawing becomes a 28 x 28 picture the way MNIST's digits were made.

LeCun et al. 1998, section III.A: the digit is fitted into a 20 x 20 box with its aspect ratio kept, which makes
grey levels, then placed in a 28 x 28 picture with its centre of mass in the middle.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from PIL import Image

SIDE = 28
"""Pixels along a side of the picture."""
BOX = 20  # pixels along the longer side of the digit inside it
INK_THRESHOLD = 0.15
"""Ink above this counts as drawn when the bounding box is looked for; anti-aliased fringes stay below."""
SMALLEST_STROKE = 0.02  # a bounding box smaller than this share of the canvas is a dot, not a digit


class CanvasRemark(StrEnum):
    """What is unusual about a canvas, for the page to say."""

    EMPTY = "empty"
    DOT = "dot"
    SEVERAL = "several"
    FULL = "full"


@dataclass(frozen=True, eq=False)
class Drawing:
    """A drawing and every stage on its way to the model."""

    ink: np.ndarray  # float32 (height, width) in [0, 1], 1 = ink: the distance from the background colour
    # (top, bottom, left, right) of the ink in canvas pixels, bottom and right exclusive; None when empty
    box: tuple[int, int, int, int] | None
    fitted: np.ndarray  # float32 (at most 20, at most 20), the box scaled with its aspect ratio kept
    centre: tuple[float, float]  # (row, column) of the centre of mass of `fitted`, in its own pixels
    corner: tuple[int, int]  # (row, column) in `image` where the upper left corner of `fitted` was laid
    image: np.ndarray  # float32 (28, 28) in [0, 1], what the model sees
    remark: CanvasRemark | None  # what a person should be told, or None

    def locate(self, points: np.ndarray) -> np.ndarray:
        """Return where canvas points (n, 2), x and y, lie in the picture: (n, 2) rows and columns, fractional."""
        if self.box is None:
            raise ValueError("an empty drawing has no place in the picture")
        top, bottom, left, right = self.box
        scale = np.array(self.fitted.shape) / [bottom - top, right - left]
        return (points[:, ::-1] - [top, left]) * scale + self.corner - 0.5


def ink_of(canvas: np.ndarray) -> np.ndarray:
    """Return how far each pixel is from the canvas' background, its most frequent colour, as float32 (height, width).

    The colour farthest from the background is 1, a blank canvas all 0. ValueError for what `flattened` does not take.
    """
    opaque = flattened(canvas)
    difference = opaque.astype(np.float32) - background_of(opaque)
    distance = np.sqrt(np.einsum("...c,...c", difference, difference))
    farthest = distance.max()
    return distance / farthest if farthest > 0 else distance


def flattened(canvas: np.ndarray) -> np.ndarray:
    """Return a canvas as uint8 (height, width, 1 or 3): transparent pixels have no colour, so it is laid on white.

    ValueError for what is no uint8 picture (height, width), or with 1, 3 or 4 channels.
    """
    canvas = np.asarray(canvas)
    if canvas.dtype != np.uint8 or canvas.ndim not in (2, 3) or 0 in canvas.shape:
        raise ValueError(f"canvas must be a non-empty uint8 picture, got {canvas.dtype} {canvas.shape}")
    if canvas.ndim == 2:
        canvas = canvas[..., None]
    if canvas.shape[2] not in (1, 3, 4):
        raise ValueError(f"canvas must have 1, 3 or 4 channels, got {canvas.shape[2]}")
    if canvas.shape[2] == 4 and (canvas[..., 3] == 255).all():
        return canvas[..., :3]
    if canvas.shape[2] == 4:
        alpha = canvas[..., 3:].astype(np.float32) / 255
        canvas = np.rint(canvas[..., :3] * alpha + 255 * (1 - alpha)).astype(np.uint8)
    return canvas


def background_of(canvas: np.ndarray) -> np.ndarray:
    """Return the most frequent colour, float32 (channels,), of a flattened canvas."""
    places = 8 * np.arange(canvas.shape[2], dtype=np.uint32)
    packed = sum(canvas[..., channel].astype(np.uint32) << place for channel, place in enumerate(places))
    colours, counts = np.unique(packed, return_counts=True)
    return (colours[counts.argmax()] >> places & 255).astype(np.float32)


def prepare(canvas: np.ndarray) -> Drawing:
    """Turn a canvas, of any colours, the digit anywhere and of any size, into the picture that the models see.

    An empty canvas gives a picture of zeros and the remark EMPTY; for ValueErrors see ink_of.

    Source: LeCun et al. 1998, section III.A.
    """
    ink = ink_of(canvas)
    drawn = ink > INK_THRESHOLD
    rows, columns = np.flatnonzero(drawn.any(1)), np.flatnonzero(drawn.any(0))
    if not len(rows):
        blank = np.zeros((SIDE, SIDE), np.float32)
        return Drawing(ink, None, blank[:BOX, :BOX], (BOX / 2, BOX / 2), (0, 0), blank, CanvasRemark.EMPTY)
    box = (int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1)
    crop = ink[box[0] : box[1], box[2] : box[3]]
    fitted = _fit(crop)
    centre = _centre_of_mass(fitted)
    corner = _corner(fitted.shape, centre)
    image = np.zeros((SIDE, SIDE), np.float32)
    image[corner[0] : corner[0] + fitted.shape[0], corner[1] : corner[1] + fitted.shape[1]] = fitted
    return Drawing(ink, box, fitted, centre, corner, image, _remark(crop, ink.shape))


def canvases_to_images(canvases: np.ndarray) -> np.ndarray:
    """Prepare many canvases, (n, height, width, 4) uint8 -> float32 (n, 28, 28) in [0, 1]."""
    return np.stack([prepare(canvas).image for canvas in canvases]) if len(canvases) else np.zeros((0, SIDE, SIDE))


def _fit(crop: np.ndarray) -> np.ndarray:
    height, width = crop.shape
    scale = BOX / max(height, width)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    small = Image.fromarray(crop).resize(size, Image.Resampling.BOX if scale < 1 else Image.Resampling.BILINEAR)
    fitted = np.asarray(small, np.float32)
    return np.clip(fitted / max(float(fitted.max()), 1e-6), 0, 1)  # thin strokes fade when shrunk: back to full ink


def _centre_of_mass(picture: np.ndarray) -> tuple[float, float]:
    total = float(picture.sum())
    row = float((picture.sum(1) * np.arange(picture.shape[0])).sum()) / total
    column = float((picture.sum(0) * np.arange(picture.shape[1])).sum()) / total
    return row, column


def _corner(shape: tuple[int, ...], centre: tuple[float, float]) -> tuple[int, int]:
    """Return where to lay the fitted digit so that its centre of mass is at pixel 14, by whole pixels.

    So MNIST's digits lie: between 13.5 and 14.5 all of them, counted from 0.
    """
    row, column = (
        int(np.clip(round(SIDE / 2 - middle), 0, SIDE - size)) for middle, size in zip(centre, shape, strict=True)
    )
    return row, column


def _remark(crop: np.ndarray, canvas_shape: tuple[int, ...]) -> CanvasRemark | None:
    if max(crop.shape) < SMALLEST_STROKE * max(canvas_shape) or max(crop.shape) < 4:
        return CanvasRemark.DOT
    return CanvasRemark.SEVERAL if _n_separate(crop) > 1 else None


def _n_separate(crop: np.ndarray) -> int:
    drawn = crop > INK_THRESHOLD
    filled = drawn.any(0)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], filled.astype(np.int8), [0]))))
    pieces = [np.flatnonzero(drawn[:, a:b].any(1)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    return sum(piece[-1] - piece[0] + 1 >= 0.5 * crop.shape[0] for piece in pieces)
