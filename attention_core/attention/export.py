"""A trace leaves the app: as numbers in a file, as a table, as a script that computes the same numbers."""

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

SCRIPT = '''"""Recompute one attention layer from trace.npz: {mechanism}. Needs numpy and torch."""

import numpy as np
import torch

trace = np.load("trace.npz")
query, key, value, scores = (torch.from_numpy(trace[name]) for name in ("query", "key", "value", "scores"))
mask = torch.from_numpy(trace["mask"]) if "mask" in trace else None  # True = may attend
{compute}
if mask is not None:
    scores = scores.masked_fill(~mask, float("-inf"))
{softmax}
context = weights @ value
{ablate}
print("weights", tuple(weights.shape), "each row sums to", weights.sum(-1).flatten()[0].item())
print("largest weight", weights.max().item())
print("context", context[0, 0])
print("same as in the app:", torch.allclose(context, torch.from_numpy(trace["context"]), atol=1e-4))
'''
COMPUTE_SCALED_DOT = "scores = query @ key.transpose(-2, -1) * {factor!r}  # 1 / sqrt(d_k), unless it was changed"
SOFTMAX = "weights = scores.softmax(dim=-1).nan_to_num()  # a query that sees no key gets zeros"
SOFTMAX_WITH_SINK = (
    'weights = (scores - torch.from_numpy(trace["log_normaliser"])[..., None]).exp()  # with a sink in it'
)
NO_SOFTMAX = 'weights = scores.masked_fill(scores == float("-inf"), 0)  # the softmax is off'
ABLATE = "context[{heads}] = 0  # switched off\n"
TAKE_SCORES = "# the {name} scores come from the file: their parameters are not part of it"


def trace_to_npz(trace: AttentionTrace) -> bytes:
    """Return query, key, value, mask, normaliser and context as the bytes of a compressed .npz file.

    Its `scores` are empty for (scaled) dot products, which the file's query and key give again.
    """
    heads = range(trace.n_heads)
    given = torch.zeros(0) if _dot_factor(trace) is not None else torch.stack([trace.scores(head) for head in heads])
    arrays = {
        "query": trace.query,
        "key": torch.stack([trace.key_of(head) for head in heads]),
        "value": torch.stack([trace.value_of(head) for head in heads]),
        "scores": given,
        "log_normaliser": trace.log_normaliser,
        "context": torch.stack([trace.context(head) for head in heads]),
    }
    per_head = trace.mask is not None and trace.mask.ndim == 3 and trace.mask.shape[0] > 1
    tiles = [trace.allowed(head) for head in (heads if per_head else [0])]
    masks = [tile for tile in tiles if tile is not None]
    if masks:
        arrays["mask"] = torch.stack(masks)
    buffer = io.BytesIO()
    plain: dict[str, Any] = {name: to_array(tensor) for name, tensor in arrays.items()}
    np.savez_compressed(buffer, **plain)
    return buffer.getvalue()


def trace_to_code(trace: AttentionTrace) -> str:
    """Return a stand-alone script that prints the trace's numbers from its .npz file."""
    factor = _dot_factor(trace)
    if factor is not None:
        compute = COMPUTE_SCALED_DOT.format(factor=factor * trace.intervention.scale)
    else:
        compute = TAKE_SCORES.format(name=trace.score.name)
    heads = list(trace.intervention.ablated_heads)
    ablate = ABLATE.format(heads=heads) if heads else ""
    softmax = NO_SOFTMAX if not trace.has_softmax else SOFTMAX if trace.sinks is None else SOFTMAX_WITH_SINK
    return SCRIPT.format(mechanism=trace.story.mechanism, compute=compute, softmax=softmax, ablate=ablate)


def trace_to_frame(trace: AttentionTrace, head: int = 0, rows: Rows = ALL, cols: Rows = ALL) -> pd.DataFrame:
    """Return one table row per cell of a tile: query, key, query_label, key_label, score, weight."""
    import pandas as pd

    queries = to_array(torch.arange(trace.n_queries, device=trace.query.device)[rows])
    keys = to_array(torch.arange(trace.n_keys, device=trace.query.device)[cols])
    query_of_cell, key_of_cell = np.repeat(queries, len(keys)), np.tile(keys, len(queries))
    return pd.DataFrame(
        {
            "query": query_of_cell,
            "key": key_of_cell,
            "query_label": [trace.story.query_axis.labels[query] for query in query_of_cell],
            "key_label": [trace.story.key_axis.labels[key] for key in key_of_cell],
            "score": to_array(trace.scores(head, rows, cols).flatten()),
            "weight": to_array(trace.weights(head, rows, cols).flatten()),
        }
    )


def _dot_factor(trace: AttentionTrace) -> float | None:
    """Return the factor with which query and key give the scores again, or None where they need more."""
    plain = trace.bias is None and not trace.intervention.score_edits
    return trace.score.dot_factor(trace.key.shape[-1]) if plain else None
