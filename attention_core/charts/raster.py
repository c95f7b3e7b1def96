"""A matrix as one 8-bit palette image: what makes 784 x 784 cells paint at once."""

import base64
import hashlib
import io
import struct
import zlib
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from PIL import Image

from attention_core.bounds.cache import BoundedCache
from attention_core.charts.palette import Ramp

MAX_SIDE = 1024
"""Cells along a side of an image; a larger matrix is reduced by whole factors, keeping the largest of each block."""

N_COLOURS = (255, 127, 63, 31)
"""Steps of the ramp; a matrix so rough that its file would be too large gets fewer, which nobody can see in noise."""
MAX_BYTES = 250_000  # a file larger than this gets fewer colours
MOST_FINEST = 100_000
"""Bytes of a file in the most colours; in half as many no cell looks other (at most 1.8 CIE76 off, and 2.3 is seen)."""
LEVEL = 1  # how much work goes into making a file small, 1 to 9
ABOVE, PALETTE = 2, 3
"""The PNG format's numbers for lines told by their difference from the line above, and for pictures with a palette."""
SAMPLE = 8  # from one band of rows in so many is told how large the whole file would be
MOST_KEPT = 128  # pictures that are kept, since most are drawn again at the next click
MASKED_COLOUR = (154, 161, 170, 85)  # red, green, blue, opacity of a masked cell, as small matrices have it


def kept(make: Callable[..., str]) -> Callable[..., str]:
    """Keep what a function makes of an array, its first argument, told by what the array holds."""
    urls = BoundedCache(most=MOST_KEPT)

    @wraps(make)
    def answer(array: np.ndarray, *rest: Any) -> str:
        key = array.shape, array.dtype.str, hashlib.sha1(np.ascontiguousarray(array)).digest(), rest
        found = urls.find(key)
        if found is None:
            found = (make(array, *rest),)
            urls.keep(key, found)
        return found[0]

    return answer


@kept
def png_url(matrix: np.ndarray, ramp: Ramp) -> str:
    """Return a matrix as a data URL of a palette PNG, one pixel a cell; -inf or NaN = masked, translucent grey."""
    cells = reduce_by_max(matrix)
    shares = np.where(np.isfinite(cells), ramp.position(cells), np.nan)
    return palette_url(shares, ramp, MAX_BYTES)


def palette_url(shares: np.ndarray, ramp: Ramp, most_bytes: int, between: np.ndarray | None = None) -> str:
    """Return a picture as a data URL of a palette PNG, in fewer colours where its file would be too large.

    Shares, (height, width), say where on the ramp each cell lies, 0 to 1; NaN = masked. What lies between pictures,
    bool (height, width), stays clear.
    """
    if between is not None:
        shares = np.where(between, np.inf, shares)
    band = shares[np.arange(len(shares)) // SAMPLE % SAMPLE == 0] if shares.size > MOST_FINEST else shares[:0]
    content = b""
    for n_colours in N_COLOURS[between is not None :]:  # a place of the 256 is for what is clear
        most = min(MOST_FINEST, most_bytes) if n_colours == N_COLOURS[0] else most_bytes
        seems_large = len(band) and SAMPLE * len(_palette_png(band, ramp, n_colours)) > most
        if seems_large and n_colours != N_COLOURS[-1]:
            continue
        content = _palette_png(shares, ramp, n_colours)
        if len(content) <= most:
            break
    return data_url(content)


def _palette_png(shares: np.ndarray, ramp: Ramp, n_colours: int) -> bytes:
    """Return a picture in so many colours of the ramp; NaN = masked, infinite = clear."""
    index: np.ndarray = np.full(shares.shape, n_colours, np.uint8)
    there = np.isfinite(shares)
    index[there] = np.rint(shares[there] * (n_colours - 1))
    index[np.isinf(shares)] = min(n_colours + 1, 255)
    beyond = [MASKED_COLOUR, (0, 0, 0, 0)][: 256 - n_colours]
    palette = ramp.lookup(n_colours).tobytes() + bytes(part for colour in beyond for part in colour[:3])
    opacity = bytes([255] * n_colours + [colour[3] for colour in beyond])
    # told by their difference from the one above, lines take half the room
    lines = np.diff(index, axis=0, prepend=np.zeros((1, index.shape[1]), np.uint8))
    raw = np.insert(lines, 0, ABOVE, axis=1).tobytes()
    packers = [zlib.compressobj(LEVEL, strategy=one) for one in (zlib.Z_DEFAULT_STRATEGY, zlib.Z_RLE)]  # one for noise
    pixels = min((packer.compress(raw) + packer.flush() for packer in packers), key=len)
    header = struct.pack(">IIBBBBB", index.shape[1], index.shape[0], 8, PALETTE, 0, 0, 0)
    parts = ((b"IHDR", header), (b"PLTE", palette), (b"tRNS", opacity), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part)) for name, part in parts
    )


def png(image: Image.Image) -> bytes:
    """Return a picture as a PNG file."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=LEVEL)
    return buffer.getvalue()


def data_url(content: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(content).decode()


def reduce_by_max(matrix: np.ndarray, max_side: int = MAX_SIDE) -> np.ndarray:
    """Return the matrix in which blocks of whole cells became their maximum, so that no bright cell gets lost."""
    factor = -(-max(matrix.shape) // max_side)
    return matrix if factor == 1 else block(matrix, (factor, factor), np.fmax.reduceat)


def block(matrix: np.ndarray, size: tuple[int, int], reduceat) -> np.ndarray:
    """Reduce blocks of so many rows and columns (fewer at the end) with a ufunc's reduceat."""
    rows = reduceat(matrix, np.arange(0, matrix.shape[0], size[0]), axis=0)
    return reduceat(rows, np.arange(0, matrix.shape[1], size[1]), axis=1)
