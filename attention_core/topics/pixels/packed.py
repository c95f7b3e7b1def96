"""What a browser needs to compute any row of the weights by itself: queries and keys in two bytes a number."""

from typing import NamedTuple

import numpy as np

from attention_core.attention.trace import AttentionTrace
from attention_core.device import to_array

LARGEST = np.iinfo(np.int16).max


class PackedLooks(NamedTuple):
    """Where every position looks: 4 d bytes for each, instead of a number for every pair.

    The scores of a query are its dot products with the keys, as integers, times the unit. Its weights are their
    softmax, or without one the scores themselves.
    """

    numbers: bytes  # int16, little-endian: the queries (n, d), then the keys (n, d)
    unit: float
    softmax: bool


def pack_looks(trace: AttentionTrace) -> PackedLooks:
    """Pack the looks of a trace with one head; ValueError where its scores are no dot products."""
    factor = trace.score.dot_factor(trace.key.shape[-1])
    if factor is None or trace.n_heads != 1:
        raise ValueError("looks are packed of one head whose scores are dot products")
    sides = [to_array(side) for side in (trace.query[0], trace.key_of(0))]
    steps = [float(np.abs(side).max()) / LARGEST or 1.0 for side in sides]
    whole = [np.rint(side / step).astype("<i2").tobytes() for side, step in zip(sides, steps, strict=True)]
    return PackedLooks(b"".join(whole), factor * steps[0] * steps[1], trace.has_softmax)
