"""A first look at a matrix too large to be surveyed at once: one row out of every block, exact, the rest left out."""

import numpy as np
import torch

from attention_core.atlas.matrix import Atlas, Tile
from attention_core.attention.pairs import finite, spans
from attention_core.device import to_array

COLUMNS = 8192
"""Keys at once, for at most 256 queries."""


@torch.inference_mode()
def glimpse(atlas: Atlas) -> Tile:
    """Return the coarsest level as the row in the middle of each block tells it: its mean and largest weight there.

    Costs 256 of the matrix's rows, whatever its size.
    """
    trace, head, block = atlas.trace, atlas.head, 2 ** (atlas.n_levels - 1)
    starts = torch.arange(0, atlas.n_queries, block)
    rows = (starts + block // 2).clamp(max=atlas.n_queries - 1).to(trace.query.device)
    parts = list(spans(0, atlas.n_keys, max(COLUMNS, block)))
    normaliser = torch.stack([trace.masked_scores(head, rows, cols).logsumexp(1) for cols in parts]).logsumexp(0)
    normaliser = finite(trace.with_sinks(normaliser, head, rows))[:, None]
    means, largest = [], []
    for cols in parts:
        given = (trace.masked_scores(head, rows, cols) - normaliser).exp()
        weights = to_array(trace.with_set_weights(given, head, rows, cols).float())
        edges = np.arange(0, weights.shape[1], block)
        sizes = np.diff(np.append(edges, weights.shape[1]))
        means.append(np.add.reduceat(weights, edges, axis=1) / sizes.astype(np.float32))
        largest.append(np.maximum.reduceat(weights, edges, axis=1))
    return Tile(np.concatenate(means, 1), np.concatenate(largest, 1))
