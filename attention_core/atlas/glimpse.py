"""A first look at a matrix too large to be surveyed at once: one row out of every block, exact, the rest left out."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from attention_core.atlas.matrix import Atlas, Tile
from attention_core.attention.trace import AttentionTrace
from attention_core.device import to_array

COLUMNS = 8192
"""Keys at once, for at most 256 queries."""


@torch.inference_mode()
def glimpse(atlas: Atlas) -> Tile:
    """Return the coarsest level as the row in the middle of each block tells it: its mean and largest weight there.

    Costs 256 of the matrix's rows, whatever its size.

    Args:
        atlas: of any size, surveyed or not.
    """
    trace, head, block = atlas.trace, atlas.head, 2 ** (atlas.n_levels - 1)
    starts = torch.arange(0, atlas.n_queries, block)
    rows = (starts + block // 2).clamp(max=atlas.n_queries - 1).to(trace.query.device)
    width = max(COLUMNS, block)
    parts = [slice(start, min(start + width, atlas.n_keys)) for start in range(0, atlas.n_keys, width)]
    normaliser = torch.stack([_scores(trace, head, rows, cols).logsumexp(1) for cols in parts]).logsumexp(0)
    if trace.sinks is not None:
        sinks = trace.sinks.expand(trace.n_heads, trace.n_queries)[head, rows]
        normaliser = torch.logaddexp(normaliser, sinks.to(normaliser))
    normaliser = normaliser.masked_fill(normaliser == -math.inf, 0)[:, None]
    means, largest = [], []
    for cols in parts:
        weights = to_array((_scores(trace, head, rows, cols) - normaliser).exp().float())
        edges = np.arange(0, weights.shape[1], block)
        sizes = np.diff(np.append(edges, weights.shape[1]))
        means.append(np.add.reduceat(weights, edges, axis=1) / sizes.astype(np.float32))
        largest.append(np.maximum.reduceat(weights, edges, axis=1))
    return Tile(np.concatenate(means, 1), np.concatenate(largest, 1))


def _scores(trace: AttentionTrace, head: int, rows: Tensor, cols: slice) -> Tensor:
    scores, allowed = trace.scores(head, rows, cols), trace.allowed(head, rows, cols)
    return scores if allowed is None else scores.masked_fill(~allowed, -math.inf)
