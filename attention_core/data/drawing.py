"""Drawings: strokes of a pen, canvases made of them or sent by a browser, and the pictures that MNIST's models see.

LeCun et al. 1998, section III.A: the digit is fitted into a 20 x 20 box with its aspect ratio kept, which makes
grey levels, then placed in a 28 x 28 picture with its centre of mass in the middle.
"""

import gzip
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageDraw
from PIL.ImageColor import getrgb
from tqdm import tqdm

from attention_core.bounds.limits import DRAWING_DOTS, PEN_PATH
from attention_core.data.mnist import FOLDER, DataError, Digits, data_folder
from attention_core.data.stroke import Stroke, path_length
from attention_core.files import atomic_write

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


class Drawing(NamedTuple):
    """A canvas as the models see it."""

    image: np.ndarray  # float32 (28, 28) in [0, 1], 1 = ink
    remark: CanvasRemark | None  # what a person should be told, or None


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
    shifts = 8 * np.arange(canvas.shape[2], dtype=np.uint32)
    packed = sum(canvas[..., channel].astype(np.uint32) << shift for channel, shift in enumerate(shifts))
    colours, counts = np.unique(packed, return_counts=True)
    return (colours[counts.argmax()] >> shifts & 255).astype(np.float32)


def prepare(canvas: np.ndarray) -> Drawing:
    """Turn a canvas, of any colours, the digit anywhere and of any size, into the picture that the models see.

    An empty canvas gives a picture of zeros and the remark EMPTY; for ValueErrors see ink_of.

    Source: LeCun et al. 1998, section III.A.
    """
    ink = ink_of(canvas)
    crop = crop_to_ink(ink, INK_THRESHOLD)
    if not crop.size:
        return Drawing(np.zeros((SIDE, SIDE), np.float32), CanvasRemark.EMPTY)
    fitted = _fit(crop)
    top, left = _corner(fitted)
    image = np.zeros((SIDE, SIDE), np.float32)
    image[top : top + fitted.shape[0], left : left + fitted.shape[1]] = fitted
    return Drawing(image, _remark(crop, ink.shape))


def crop_to_ink(ink: np.ndarray, threshold: float = 0) -> np.ndarray:
    """Return the part of a picture (rows, columns) in which there is more than so much ink; empty where none is."""
    rows, columns = (np.flatnonzero((ink > threshold).any(axis)) for axis in (1, 0))
    return ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] if len(rows) else ink[:0]


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


def _corner(fitted: np.ndarray) -> list[int]:
    """Return where to lay the fitted digit so that its centre of mass is at pixel 14, by whole pixels.

    MNIST's digits lie so: the centre of mass of each is between 13.5 and 14.5, counted from 0.
    """
    corner = []
    for axis, size in enumerate(fitted.shape):
        middle = float((fitted.sum(1 - axis) * np.arange(size)).sum()) / float(fitted.sum())
        corner.append(int(np.clip(round(SIDE / 2 - middle), 0, SIDE - size)))
    return corner


def _remark(crop: np.ndarray, canvas_shape: tuple[int, ...]) -> CanvasRemark | None:
    if max(crop.shape) < SMALLEST_STROKE * max(canvas_shape) or max(crop.shape) < 4:
        return CanvasRemark.DOT
    return CanvasRemark.SEVERAL if _n_separate(crop) > 1 else None


def _n_separate(crop: np.ndarray) -> int:
    inked = crop > INK_THRESHOLD
    filled = inked.any(0)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], filled.astype(np.int8), [0]))))
    pieces = [np.flatnonzero(inked[:, a:b].any(1)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    return sum(piece[-1] - piece[0] + 1 >= 0.5 * crop.shape[0] for piece in pieces)


SUPERSAMPLING = 2  # canvases are drawn this many times larger and shrunk, which smooths the edges as a browser does


@dataclass(frozen=True, eq=False)
class Trajectories:
    points: np.ndarray  # float32 (n, 8, 2), x to the right and y downwards, each in [0, 1]
    labels: np.ndarray  # uint8 (n,)

    def __getitem__(self, chosen: slice) -> "Trajectories":
        return Trajectories(self.points[chosen], self.labels[chosen])


def load_trajectories(data: str | Path | None = None) -> Trajectories:
    """Read pendigits/train.csv.gz: eight points along the pen's path and the digit, one drawing a line.

    Source: Alpaydin and Alimoglu, Pen-Based Recognition of Handwritten Digits, UCI, CC-BY 4.0.
    """
    path = data_folder(data) / "pendigits" / "train.csv.gz"
    try:
        with gzip.open(path, "rt") as file:
            table = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.float32, ndmin=2)
    except FileNotFoundError:
        raise DataError(
            f"No {path}. Training on drawn strokes needs the UCI set 'Pen-Based Recognition of Handwritten Digits' "
            "(CC-BY 4.0) as pendigits/train.csv.gz in the data folder: columns x0,y0,...,x7,y7,digit."
        ) from None
    except (ValueError, EOFError, OSError) as error:
        raise DataError(f"{path} cannot be read ({error}). Fetch it again.") from None
    if table.shape[1] != 17:
        raise DataError(f"{path} should have 17 columns, x0,y0,...,x7,y7,digit; it has {table.shape[1]}.")
    points = table[:, :16].reshape(-1, 8, 2) / 100
    points[..., 1] = 1 - points[..., 1]  # the tablet's y points upwards
    return Trajectories(points, table[:, 16].astype(np.uint8))


def smooth_path(points: np.ndarray, n_between: int = 6) -> np.ndarray:
    """Return a Catmull-Rom curve through the points, (n, 2) -> ((n - 1) * n_between + 1, 2).

    Source: Catmull and Rom 1974, "A class of local interpolating splines".
    """
    padded = np.concatenate((2 * points[:1] - points[1:2], points, 2 * points[-1:] - points[-2:-1]))
    before, start, stop, after = padded[:-3], padded[1:-2], padded[2:-1], padded[3:]
    t = (np.arange(n_between) / n_between)[None, :, None]
    before, start, stop, after = (p[:, None] for p in (before, start, stop, after))
    curve = 0.5 * (
        2 * start
        + (stop - before) * t
        + (2 * before - 5 * start + 4 * stop - after) * t**2
        + (3 * start - before - 3 * stop + after) * t**3
    )
    return np.concatenate((curve.reshape(-1, 2), points[-1:]))


def draw_paths(
    paths: list[np.ndarray],
    side: int | tuple[int, int],
    stroke_width: float,
    ink: tuple[int, int, int] = (0, 0, 0),
    background: tuple[int, int, int] = (255, 255, 255),
) -> np.ndarray:
    """Draw paths, each (n, 2) of x and y in canvas pixels, with a round pen, as the page's canvas would send it.

    The side is that of a square canvas, or (height, width); colours are RGB. Returns uint8 (height, width, 4) RGBA.
    """
    height, width = (side, side) if isinstance(side, int) else side
    is_grey = len({*ink}) == len({*background}) == 1  # one channel tells all three
    pigment, paper = (ink[0], background[0]) if is_grey else (ink, background)
    canvas = Image.new("L" if is_grey else "RGB", (width * SUPERSAMPLING, height * SUPERSAMPLING), paper)
    pen = ImageDraw.Draw(canvas)
    radius = stroke_width * SUPERSAMPLING / 2
    for path in paths:
        scaled = [(float(x), float(y)) for x, y in path * SUPERSAMPLING]
        if len(scaled) > 1:
            pen.line(scaled, fill=pigment, width=max(1, round(2 * radius)))
        for x, y in scaled:  # round joints and ends; PIL's own leave cracks
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=pigment)
    return np.asarray(canvas.resize((width, height), Image.Resampling.BOX).convert("RGBA"))


def draw_strokes(strokes: Sequence[Stroke], size: tuple[int, int], ink: str, paper: str) -> np.ndarray:
    """Draw strokes as a page's canvas shows them, uint8 (height, width, 4) RGBA.

    The size is (height, width); ink, of strokes without a colour of their own, and paper are written as "#rrggbb".
    """
    canvas = np.zeros((*size, 4), np.uint8)
    canvas[:] = (*getrgb(paper), 255)
    apart = max(1.0, path_length(strokes) / DRAWING_DOTS.maximum)
    for (colour, width), together in groupby(strokes, key=lambda stroke: (stroke.colour, stroke.width)):
        canvas_of_strokes = draw_paths([_dense(stroke.path, apart) for stroke in together], size, width)
        share = canvas_of_strokes[..., :1].astype(np.uint16)  # of the paper, in 255ths
        colour_of_group = np.array(getrgb(colour or ink), np.uint16)
        canvas[..., :3] = (canvas[..., :3] * share + colour_of_group * (255 - share) + 127) // 255
    return canvas


def _dense(path: np.ndarray, apart: float) -> np.ndarray:
    """Return a path (n, 2) with points so many pixels apart: a line without beads where its points were."""
    lengths = np.concatenate(([0.0], np.linalg.norm(np.diff(path, axis=0), axis=1).cumsum()))
    samples = np.linspace(0, lengths[-1], max(2, round(float(lengths[-1]) / apart) + 1))
    return np.stack([np.interp(samples, lengths, along) for along in path.T], 1)


def random_canvas(points: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Replay one trajectory (n, 2) in [0, 1] as somebody might have drawn it: size, place, slant, pen, colours vary."""
    side = 128
    shaken = points + generator.normal(0, 0.015, points.shape)
    path = smooth_path(shaken) if generator.random() < 0.7 else shaken
    path = path - path.mean(0)
    angle, slant = generator.normal(0, 0.1), generator.normal(0, 0.15)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    path = path @ turn @ np.array([[1, 0], [slant, 1]]) * [generator.uniform(0.55, 1.2), 1]
    size = side * generator.uniform(0.25, 0.85)
    path = path * size / max(np.ptp(path, axis=0).max(), 1e-3)
    width = np.clip(size * np.exp(generator.normal(np.log(0.09), 0.45)), 1.0, 0.3 * size)
    room = np.maximum(side - np.ptp(path, axis=0) - width, 0)
    path = path - path.min(0) + width / 2 + generator.uniform(0, 1, 2) * room
    dark, light = generator.integers(0, 90, 3), generator.integers(165, 256, 3)
    ink, background = (dark, light) if generator.random() < 0.5 else (light, dark)
    return draw_paths([path], side, width, _rgb(ink), _rgb(background))


def _rgb(colour: np.ndarray) -> tuple[int, int, int]:
    red, green, blue = colour.tolist()
    return red, green, blue


def stroke_digits(trajectories: Trajectories, n_replays: int, seed: int) -> Digits:
    """Replay every trajectory n_replays times and prepare each canvas as the page does, uint8 (n * n_replays, 28, 28).

    The result is kept in FOLDER, since it takes minutes, for the same trajectories, seed and code.
    """
    sources = (trajectories.points.tobytes(), f"{n_replays} {seed}".encode(), Path(__file__).read_bytes())
    path = FOLDER / f"strokes-{hashlib.sha256(b' '.join(sources)).hexdigest()[:16]}.npy"
    if not path.exists():
        generator = np.random.default_rng(seed)
        images = [
            np.rint(prepare(random_canvas(points, generator)).image * 255).astype(np.uint8)
            for _ in range(n_replays)
            for points in tqdm(trajectories.points, desc="replaying pen strokes", leave=False)
        ]
        FOLDER.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as temporary, temporary.open("wb") as file:
            np.save(file, np.stack(images))
    return Digits(np.load(path), np.tile(trajectories.labels, n_replays))


FAULTS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""What goes wrong where a drawing is something else."""


def strokes_of(drawing: Any) -> list[Stroke] | None:
    """Return the strokes of a drawing that a browser sends, those of unknown colour without one; None if it is none."""
    try:
        strokes = inked_strokes(drawing)
        return strokes if path_length(strokes) <= PEN_PATH.maximum else None
    except FAULTS:
        return None


def inked_strokes(drawing: dict[str, Any]) -> list[Stroke]:
    """Return each stroke of a canvas drawing with its pen and colour, None where that is unknown; or one of FAULTS."""
    strokes = []
    for shape in drawing.get("objects", []):
        points = [command[-2:] for command in shape.get("path", []) if len(command) >= 3]  # curves become their ends
        if points:
            pen, colour = shape.get("strokeWidth"), shape.get("stroke")
            width = min(60.0, max(1.0, float(pen))) if isinstance(pen, int | float) and pen == pen else 20.0
            is_colour = isinstance(colour, str) and re.fullmatch("#[0-9a-fA-F]{6}", colour)
            strokes.append(Stroke(np.array(points, dtype=float), width, colour if is_colour else None))
    return strokes
