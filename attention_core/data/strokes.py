"""Pen strokes: trajectories that people drew, and canvases made of them."""

import gzip
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from tqdm import tqdm

from attention_core.arrays import FileError, read_npz
from attention_core.data import drawing
from attention_core.data.drawing import prepare
from attention_core.data.mnist import DataError, Digits, data_folder
from attention_core.log import log

FOLDER = Path.home() / ".cache" / "attention-explorer"
SUPERSAMPLING = 2  # canvases are drawn this many times larger and shrunk, which smooths the edges as a browser does


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Pen paths of digits."""

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
    before, start, end, after = padded[:-3], padded[1:-2], padded[2:-1], padded[3:]
    t = (np.arange(n_between) / n_between)[None, :, None]
    before, start, end, after = (p[:, None] for p in (before, start, end, after))
    curve = 0.5 * (
        2 * start
        + (end - before) * t
        + (2 * before - 5 * start + 4 * end - after) * t**2
        + (3 * start - before - 3 * end + after) * t**3
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
    large = width * SUPERSAMPLING, height * SUPERSAMPLING
    canvas = Image.new("L" if is_grey else "RGB", large, paper)
    pen = ImageDraw.Draw(canvas)
    radius = stroke_width * SUPERSAMPLING / 2
    for path in paths:
        scaled = [(float(x), float(y)) for x, y in path * SUPERSAMPLING]
        if len(scaled) > 1:
            pen.line(scaled, fill=pigment, width=max(1, round(2 * radius)))
        for x, y in scaled:  # round joints and ends; PIL's own leave cracks
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=pigment)
    return np.asarray(canvas.resize((width, height), Image.Resampling.BOX).convert("RGBA"))


def random_canvas(points: np.ndarray, generator: np.random.Generator, side: int = 128) -> np.ndarray:
    """Replay one trajectory (n, 2) in [0, 1] as somebody might have drawn it: size, place, slant, pen, colours vary."""
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

    The result is kept in the user's cache folder, since it takes minutes; the same seed gives the same pictures.
    """

    def make() -> dict[str, np.ndarray]:
        generator = np.random.default_rng(seed)
        images = [
            np.rint(prepare(random_canvas(points, generator)).image * 255).astype(np.uint8)
            for _ in range(n_replays)
            for points in tqdm(trajectories.points, desc="replaying pen strokes", leave=False)
        ]
        return {"images": np.stack(images)}

    made_from: list[bytes | Path] = [
        trajectories.points.tobytes(),
        f"{n_replays} {seed}".encode(),
        Path(__file__),
        Path(drawing.__file__),
    ]
    images = cached_arrays("strokes", made_from, make)["images"]
    return Digits(images, np.tile(trajectories.labels, n_replays))


def cached_arrays(
    name: str, made_from: list[bytes | Path], make: Callable[[], dict[str, np.ndarray]], folder: Path = FOLDER
) -> dict[str, np.ndarray]:
    """Return make()'s arrays, from the cache if they were made from exactly these inputs before.

    They are made from bytes and from source files whose content counts; `name` begins the file's name. Where the folder
    cannot be written, nothing is kept.
    """
    digest = hashlib.sha256()
    for part in made_from:
        content = part.read_bytes() if isinstance(part, Path) else part
        digest.update(len(content).to_bytes(8, "big") + content)
    path = folder / f"{name}-{digest.hexdigest()[:16]}.npz"
    try:
        return read_npz(path)
    except FileError:
        if path.exists():
            log.warning("%s is made again", path, exc_info=True)
    arrays = make()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".new").open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        path.with_suffix(".new").replace(path)
    except OSError:
        log.warning("%s cannot be kept", path, exc_info=True)
    return arrays
