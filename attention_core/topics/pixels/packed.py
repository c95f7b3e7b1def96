"""What a browser needs to compute any row of the weights by itself: queries and keys in two bytes a number."""

import numpy as np

from attention_core.attention.trace import AttentionTrace
from attention_core.device import to_array

LARGEST = np.iinfo(np.int16).max


def pack_looks(trace: AttentionTrace) -> tuple[bytes, float]:
    """Pack the queries and keys of one head whose scores are dot products: 4 d bytes for each position.

    Returns them as int16, little-endian, the queries (n, d) first, and what their products as integers are multiplied
    with to be the scores.
    """
    factor: float = trace.score.dot_factor(trace.key.shape[-1])  # type: ignore[assignment]
    sides = [to_array(side) for side in (trace.query[0], trace.key_of(0))]
    steps = [float(np.abs(side).max()) / LARGEST or 1.0 for side in sides]
    whole = [np.rint(side / step).astype("<i2").tobytes() for side, step in zip(sides, steps, strict=True)]
    return b"".join(whole), factor * steps[0] * steps[1]
