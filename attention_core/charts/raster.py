"""A matrix as one 8-bit palette image: what makes 784 x 784 cells paint at once."""

from __future__ import annotations

import base64
import io

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
    content = b""
    for n_colours in N_COLOURS:
        content = _encode(cells, ramp, n_colours)
        if len(content) <= MAX_BYTES:
            break
    return "data:image/png;base64," + base64.b64encode(content).decode()


def _encode(cells: np.ndarray, ramp: Ramp, n_colours: int) -> bytes:
    index = np.rint(ramp.position(cells) * (n_colours - 1)).astype(np.uint8)
    index[~np.isfinite(cells)] = n_colours
    image = Image.fromarray(index)
    image.putpalette([*ramp.lookup(n_colours).ravel().tolist(), *MASKED_COLOUR[:3]])
    opaque = bytes([255] * n_colours)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=3, transparency=opaque + bytes(MASKED_COLOUR[3:]))
    return buffer.getvalue()


def reduce_by_max(matrix: np.ndarray, max_side: int = MAX_SIDE) -> np.ndarray:
    """Return the matrix in which blocks of whole cells became their maximum, so that no bright cell gets lost."""
    factor = -(-max(matrix.shape) // max_side)
    return matrix if factor == 1 else block(matrix, factor, np.fmax.reduceat)


def block(matrix: np.ndarray, factor: int, reduceat) -> np.ndarray:
    """Reduce blocks of factor x factor cells (smaller at the end) with a ufunc's reduceat."""
    rows = reduceat(matrix, np.arange(0, matrix.shape[0], factor), axis=0)
    return reduceat(rows, np.arange(0, matrix.shape[1], factor), axis=1)
