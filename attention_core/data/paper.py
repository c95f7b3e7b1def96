"""Photographs of digits on paper, made by a computer: examples, and what handwriting is tried on."""

from io import BytesIO
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from attention_core.data.drawing import draw_paths, smooth_path

SIZE = (360, 480)
"""Rows and columns of a made photograph."""
PENS = ((25, 25, 30), (30, 45, 130), (20, 60, 150), (160, 25, 30), (75, 75, 80), (20, 20, 20))
"""Ball pens in black, blue and red, and a pencil."""
PAPERS = ("plain", "ruled", "squared")


class MadePhotograph(NamedTuple):
    pixels: np.ndarray  # uint8 (rows, columns, 3)
    paper: str  # of PAPERS


def photograph_ink(ink: Image.Image, generator: np.random.Generator, paper: str | None = None) -> MadePhotograph:
    """Return a photograph of a sheet on which digits, levels from 0 to 255, are written, on one of PAPERS.

    Paper, lines, pen, size, slant, shadow, blur, noise and the quality of the JPEG vary.
    """
    uniform = generator.uniform
    rows, columns = SIZE
    paper = paper or str(generator.choice(PAPERS))
    sheet = Image.new(
        "RGB", (2 * columns, 2 * rows), tuple(int(level) for level in uniform(205, 252) - uniform(0, 12, 3))
    )
    _draw_lines(sheet, paper, generator)
    height = int(rows * uniform(0.22, 0.62))
    width = int(height * ink.width / ink.height)
    if width > 0.8 * columns:
        width, height = int(0.8 * columns), int(0.8 * columns * ink.height / ink.width)
    ink = ink.resize((width, height), Image.Resampling.BICUBIC)
    left = columns + int(uniform(-0.5, 0.5) * (columns - width) * 0.7) - width // 2
    top = rows + int(uniform(-0.5, 0.5) * (rows - height) * 0.7) - height // 2
    pen = Image.new("RGB", ink.size, PENS[generator.integers(len(PENS))])
    strength = uniform(0.75, 1)
    sheet.paste(pen, (left, top), ink.point(lambda level: int(level * strength)))
    sheet = sheet.rotate(uniform(-9, 9), Image.Resampling.BICUBIC)
    sheet = sheet.crop((columns // 2, rows // 2, columns // 2 + columns, rows // 2 + rows))
    bend = uniform(-0.05, 0.05, 8) * min(SIZE)
    corners = np.array([0, 0, 0, rows, columns, rows, columns, 0]) + bend
    sheet = sheet.transform(sheet.size, Image.Transform.QUAD, corners.tolist(), Image.Resampling.BICUBIC)
    sheet = sheet.filter(ImageFilter.GaussianBlur(uniform(0, 1.2)))
    lit = np.asarray(sheet, np.float32) * _light(generator)[..., None] + generator.normal(0, uniform(1, 6), (*SIZE, 3))
    file = BytesIO()
    Image.fromarray(np.clip(lit, 0, 255).astype(np.uint8)).save(file, "JPEG", quality=int(uniform(45, 92)))
    return MadePhotograph(np.asarray(Image.open(file)), paper)


def _draw_lines(sheet: Image.Image, paper: str, generator: np.random.Generator) -> None:
    if paper == "plain":
        return
    pen = ImageDraw.Draw(sheet)
    colour = tuple(int(level) for level in generator.uniform((110, 130, 170), (190, 205, 235)))
    apart = generator.uniform(16, 60) if paper == "squared" else generator.uniform(30, 80)
    thickness = int(generator.integers(1, 4))
    for at in np.arange(generator.uniform(0, apart), sheet.height, apart):
        pen.line((0, at, sheet.width, at), colour, thickness)
    if paper == "squared":
        for at in np.arange(generator.uniform(0, apart), sheet.width, apart):
            pen.line((at, 0, at, sheet.height), colour, thickness)
    elif generator.random() < 0.5:
        at = sheet.width / 2 - generator.uniform(0.3, 0.45) * SIZE[1]
        pen.line((at, 0, at, sheet.height), (200, 90, 90), thickness)


def scanned_ink(images: np.ndarray, generator: np.random.Generator) -> Image.Image:
    """Return MNIST's digits, uint8 (n, 28, 28), beside each other, as if drawn by one thick pen."""
    level = generator.uniform(0.3, 0.75)
    tiles: list[np.ndarray] = []
    for image in images:
        columns = np.flatnonzero(image.any(0))
        tile = Image.fromarray(image[:, columns[0] : columns[-1] + 1])
        tile = tile.resize((tile.width * 10, tile.height * 10), Image.Resampling.BICUBIC)
        tiles += [np.asarray(tile, np.float32) / 255, np.zeros((280, int(generator.uniform(50, 110))), np.float32)]
    row = np.concatenate(tiles[:-1], 1)
    rows = np.flatnonzero(row.max(1) > 0.1)
    return Image.fromarray((255 / (1 + np.exp(-24 * (row[rows[0] : rows[-1] + 1] - level)))).astype(np.uint8))


def pen_ink(points: np.ndarray, generator: np.random.Generator) -> Image.Image:
    """Return a digit along points, (n, 2) in [0, 1], drawn by a thin pen."""
    path = smooth_path(points + generator.normal(0, 0.01, points.shape))
    path = (path - path.min(0)) / np.ptp(path, axis=0).max() * 240 + 20
    width, height = (np.ptp(path, axis=0) + 40).astype(int)
    return Image.fromarray(255 - draw_paths([path], (int(height), int(width)), generator.uniform(7, 18))[..., 0])


def _light(generator: np.random.Generator) -> np.ndarray:
    """Return how much light falls on each pixel: a slope, and at times the shadow of a hand."""
    rows, columns = SIZE
    down, right = np.mgrid[-1 : 1 : rows * 1j, -1 : 1 : columns * 1j]
    slope = generator.uniform(-0.25, 0.25, 2)
    light = generator.uniform(0.7, 1) * (1 + slope[0] * down + slope[1] * right)
    if generator.random() < 0.5:
        angle, edge, softness = (
            generator.uniform(0, 2 * np.pi),
            generator.uniform(-0.8, 0.8),
            generator.uniform(0.03, 0.4),
        )
        beyond = np.cos(angle) * right + np.sin(angle) * down - edge
        light = light * (1 - generator.uniform(0.15, 0.5) / (1 + np.exp(-beyond / softness)))
    return light
