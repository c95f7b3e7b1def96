"""Pictures as PNG files: matrices in the colours of a ramp, small enough to be sent.

A matrix of 784 x 784 cells is one 8-bit palette image, which paints at once.
"""

import hashlib
import io
import math
import struct
import zlib
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from PIL import Image
from PIL.ImageColor import getcolor

from attention_core.attention.view.colours import MASKED_COLOUR
from attention_core.charts.ramps import Ramp
from attention_core.concurrency import BoundedCache

MAX_SIDE = 1024
"""Cells along a side of an image; a larger matrix is reduced by whole factors, keeping the largest of each block."""

N_COLOURS = (255, 127, 63, 31)
"""Steps of the ramp; a matrix so rough that its file would be too large gets fewer, which nobody can see in noise."""
MAX_BYTES = 250_000  # a file larger than this gets fewer colours
LEVEL = 1  # how much work goes into making a file small, 1 to 9
ABOVE, PALETTE = 2, 3
"""The PNG format's numbers for lines stored as differences from the line above, and for pictures with a palette."""
MAX_CACHED = 128  # pictures of each function, since most are drawn again at the next click


def cached_by_content(make: Callable[..., bytes]) -> Callable[..., bytes]:
    """Cache what a function returns for an array, its first argument, by the numbers in the array."""
    files = BoundedCache(max_items=MAX_CACHED)

    @wraps(make)
    def cached(array: np.ndarray, *options: Any) -> bytes:
        key = array.shape, array.dtype.str, hashlib.sha1(np.ascontiguousarray(array).data).digest(), options
        if (file := files.get(key)) is not None:
            return file.value
        content = make(array, *options)
        files.put(key, content)
        return content

    return cached


@cached_by_content
def matrix_png(matrix: np.ndarray, ramp: Ramp) -> bytes:
    """Return a matrix as a palette PNG, one pixel a cell; -inf or NaN = masked, translucent grey."""
    cells = reduce_by_max(matrix)
    shares = np.where(np.isfinite(cells), ramp.position(cells), np.nan)
    return palette_png(shares, ramp, MAX_BYTES)


def palette_png(shares: np.ndarray, ramp: Ramp, max_bytes: int, gaps: np.ndarray | None = None) -> bytes:
    """Return a picture as a palette PNG, in fewer colours where its file would be too large.

    Shares, (height, width), say where on the ramp each cell lies, 0 to 1; NaN = masked. Gaps between pictures, bool
    (height, width), stay clear.
    """
    if gaps is not None:
        shares = np.where(gaps, np.inf, shares)
    content = b""
    for n_colours in N_COLOURS[gaps is not None :]:  # one of the 256 is for what is clear
        content = _palette_png(shares, ramp, n_colours)
        if len(content) <= max_bytes:
            break
    return content


def _palette_png(shares: np.ndarray, ramp: Ramp, n_colours: int) -> bytes:
    """Return a picture in so many colours of the ramp; NaN = masked, infinite = clear."""
    index: np.ndarray = np.full(shares.shape, n_colours, np.uint8)
    is_number = np.isfinite(shares)
    index[is_number] = np.rint(shares[is_number] * (n_colours - 1))
    index[np.isinf(shares)] = min(n_colours + 1, 255)
    beyond = [getcolor(MASKED_COLOUR, "RGBA"), (0, 0, 0, 0)][: 256 - n_colours]
    colours = np.vstack([ramp.lookup(n_colours), np.array(beyond, np.uint8)])
    palette, opacity = colours[:, :3].tobytes(), colours[:, 3].tobytes()
    # stored as differences from the one above, lines take half the room
    lines = np.diff(index, axis=0, prepend=np.zeros((1, index.shape[1]), np.uint8))
    raw = np.insert(lines, 0, ABOVE, axis=1).tobytes()
    strategies = zlib.Z_DEFAULT_STRATEGY, zlib.Z_RLE  # the second one is for noise
    packers = [zlib.compressobj(LEVEL, strategy=strategy) for strategy in strategies]
    pixels = min((packer.compress(raw) + packer.flush() for packer in packers), key=len)
    header = struct.pack(">IIBBBBB", index.shape[1], index.shape[0], 8, PALETTE, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", palette), (b"tRNS", opacity), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )


def image_file(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=LEVEL)
    return buffer.getvalue()


def reduce_by_max(matrix: np.ndarray) -> np.ndarray:
    """Return the matrix in which blocks of whole cells became their maximum, so that no bright cell gets lost."""
    factor = math.ceil(max(matrix.shape) / MAX_SIDE)
    return matrix if factor == 1 else reduce_blocks(matrix, (factor, factor), np.fmax)


def reduce_blocks(matrix: np.ndarray, size: tuple[int, int], combine: np.ufunc) -> np.ndarray:
    """Combine each block of so many rows and columns, fewer at the end, into one number, by np.add or np.fmax."""
    rows = combine.reduceat(matrix, np.arange(0, matrix.shape[0], size[0]), axis=0)
    return combine.reduceat(rows, np.arange(0, matrix.shape[1], size[1]), axis=1)
