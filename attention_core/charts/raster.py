"""A matrix as one 8-bit palette image: what makes 784 x 784 cells paint at once."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from PIL import Image

from attention_core.charts.palette import Ramp

MAX_SIDE = 1024
"""Cells along a side of an image; a larger matrix is reduced by whole factors, keeping the largest of each block."""

N_COLOURS = (255, 127, 63, 31)
"""Steps of the ramp; a matrix so rough that its file would be too large gets fewer, which nobody can see in noise."""
MAX_BYTES = 300_000
"""A file larger than this is made again with fewer colours; 4/3 of it goes to the browser."""
MASKED_COLOUR = (154, 161, 170, 85)
"""Red, green, blue, opacity of a masked cell, as small matrices have it."""


def png_url(matrix: np.ndarray, ramp: Ramp) -> str:
    """Return the matrix as a data URL of a palette PNG, one pixel a cell.

    Args:
        matrix: float (n_rows, n_cols); -inf or NaN = masked, a translucent grey pixel.
        ramp: values to colours.
    """
    cells = reduce_by_max(matrix)
    shares = np.where(np.isfinite(cells), ramp.position(cells), np.nan)
    return palette_url(shares, ramp, MAX_BYTES)


def palette_url(shares: np.ndarray, ramp: Ramp, most_bytes: int, between: np.ndarray | None = None) -> str:
    """Return a picture as a data URL of a palette PNG, in fewer colours where its file would be too large.

    Args:
        shares: float (height, width), where on the ramp each cell lies, 0 to 1; NaN = masked.
        ramp: gives the colours only.
        most_bytes: a file larger than this is made again with fewer colours.
        between: bool (height, width), what lies between pictures and stays clear, or None.
    """
    content, masked = b"", np.isnan(shares)
    for n_colours in N_COLOURS[between is not None :]:  # a place of the 256 is for what is clear
        index = np.rint(np.where(masked, 0, shares) * (n_colours - 1)).astype(np.uint8)
        index[masked] = n_colours
        if between is not None:
            index[between] = n_colours + 1
        content = _palette_png(index, ramp, n_colours)
        if len(content) <= most_bytes:
            break
    return data_url(content)


def _palette_png(index: np.ndarray, ramp: Ramp, n_colours: int) -> bytes:
    """Return a picture of colours 0 to n - 1 of the ramp, n = masked, n + 1 = clear."""
    image = Image.fromarray(index)
    beyond = [MASKED_COLOUR, (0, 0, 0, 0)][: 256 - n_colours]
    image.putpalette([*ramp.lookup(n_colours).ravel().tolist(), *(part for colour in beyond for part in colour[:3])])
    opacity = bytes([255] * n_colours + [colour[3] for colour in beyond])
    return png(image, transparency=opacity)


def png(image: Image.Image, **more: Any) -> bytes:
    """Return a picture as a PNG file."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=3, **more)
    return buffer.getvalue()


def data_url(content: bytes) -> str:
    """Return a PNG file as a data URL."""
    return "data:image/png;base64," + base64.b64encode(content).decode()


def reduce_by_max(matrix: np.ndarray, max_side: int = MAX_SIDE) -> np.ndarray:
    """Return the matrix in which blocks of whole cells became their maximum, so that no bright cell gets lost."""
    factor = -(-max(matrix.shape) // max_side)
    return matrix if factor == 1 else block(matrix, factor, np.fmax.reduceat)


def block(matrix: np.ndarray, factor: int, reduceat) -> np.ndarray:
    """Reduce blocks of factor x factor cells (smaller at the end) with a ufunc's reduceat."""
    rows = reduceat(matrix, np.arange(0, matrix.shape[0], factor), axis=0)
    return reduceat(rows, np.arange(0, matrix.shape[1], factor), axis=1)
