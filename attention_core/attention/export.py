"""A trace leaves the app: as numbers in a file, as a table. As code: see script.py."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import ALL, Rows
from attention_core.device import to_array

if TYPE_CHECKING:
    import pandas as pd


def trace_to_npz(trace: AttentionTrace) -> bytes:
    """Return query, key, value, mask, normaliser and context as the bytes of a compressed .npz file.

    Its `scores` are empty for (scaled) dot products, which the file's query and key give again. A trace with edits has
    its `weights` too, since some stand beside the softmax.
    """
    heads = range(trace.n_heads)
    is_plain = not trace.edits and trace.bias is None and trace.score.dot_factor(trace.key.shape[-1]) is not None
    given = torch.zeros(0) if is_plain else torch.stack([trace.scores(head) for head in heads])
    arrays = {
        "query": trace.query,
        "key": torch.stack([trace.key_of(head) for head in heads]),
        "value": torch.stack([trace.value_of(head) for head in heads]),
        "scores": given,
        "log_normaliser": trace.log_normaliser,
        "context": torch.stack([trace.context(head) for head in heads]),
    }
    if trace.edits:
        arrays["weights"] = torch.stack([trace.weights(head) for head in heads])
    tiles = [trace.whole_mask(head) for head in trace.heads_of_mask]
    masks = [tile for tile in tiles if tile is not None]
    if masks:
        arrays["mask"] = torch.stack(masks)
    buffer = io.BytesIO()
    plain: dict[str, Any] = {name: to_array(tensor) for name, tensor in arrays.items()}
    np.savez_compressed(buffer, **plain)
    return buffer.getvalue()


def trace_to_frame(trace: AttentionTrace, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> pd.DataFrame:
    """Return one table row per cell of a tile: query, key, query_label, key_label, score, weight; labels are whole."""
    import pandas as pd

    queries = to_array(torch.arange(trace.n_queries, device=trace.query.device)[rows])
    keys = to_array(torch.arange(trace.n_keys, device=trace.query.device)[cols])
    query_texts, key_texts = (axis.whole or axis.labels for axis in (trace.story.query_axis, trace.story.key_axis))
    query_of_cell, key_of_cell = np.repeat(queries, len(keys)), np.tile(keys, len(queries))
    return pd.DataFrame(
        {
            "query": query_of_cell,
            "key": key_of_cell,
            "query_label": [query_texts[query] for query in query_of_cell],
            "key_label": [key_texts[key] for key in key_of_cell],
            "score": to_array(trace.scores(head, rows, cols).flatten()),
            "weight": to_array(trace.weights(head, rows, cols).flatten()),
        }
    )
