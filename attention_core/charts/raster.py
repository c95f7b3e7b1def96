"""A matrix as one 8-bit palette image: what makes 784 x 784 cells paint at once."""

from __future__ import annotations

import base64
import io

import numpy as np
from PIL import Image

from attention_core.charts.palette import Ramp

MAX_SIDE = 1024
"""Cells along a side of an image; a larger matrix is reduced by whole factors, keeping the largest of each block."""


def png_url(matrix: np.ndarray, ramp: Ramp) -> str:
    """Return the matrix as a data URL of a palette PNG, one pixel a cell.

    Args:
        matrix: float (n_rows, n_cols).
        ramp: values to colours.
    """
    index = np.rint(ramp.position(reduce_by_max(matrix)) * 255).astype(np.uint8)
    image = Image.fromarray(index)
    image.putpalette(ramp.lookup().ravel().tolist())
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=6)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def reduce_by_max(matrix: np.ndarray, max_side: int = MAX_SIDE) -> np.ndarray:
    """Return the matrix in which blocks of whole cells became their maximum, so that no bright cell gets lost."""
    factor = -(-max(matrix.shape) // max_side)
    return matrix if factor == 1 else block(matrix, factor, np.fmax.reduceat)


def block(matrix: np.ndarray, factor: int, reduceat) -> np.ndarray:
    """Reduce blocks of factor x factor cells (smaller at the end) with a ufunc's reduceat."""
    rows = reduceat(matrix, np.arange(0, matrix.shape[0], factor), axis=0)
    return reduceat(rows, np.arange(0, matrix.shape[1], factor), axis=1)
