"""Whether a trace says what the model really did."""

from collections.abc import Iterable

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Rows

FEW = 1 << 16
"""Weights up to which all of them are compared; of more, those of two queries in the first and the last head."""


def allowance_of(*tensors: Tensor) -> float:
    """Return by how much weights may differ that were computed of such numbers."""
    return 0.02 if any(tensor.dtype in (torch.float16, torch.bfloat16) for tensor in tensors) else 1e-5


def agrees(trace: AttentionTrace, weights: Tensor, context: Tensor | None = None, dropout: float = 0.0) -> bool:
    """Return whether a trace has these weights (n_heads, n_queries, n_keys), and with them this context.

    Weights that were dropped are 0 and count for nothing, the others were divided by 1 - dropout.
    """
    if tuple(weights.shape) != (trace.n_heads, trace.n_queries, trace.n_keys):
        return False
    rows: Rows = slice(None)
    heads: Iterable[int] = range(trace.n_heads)
    if weights.numel() > FEW:
        half = trace.n_queries // 2
        rows, heads = slice(half, trace.n_queries, max(trace.n_queries - 1 - half, 1)), {0, trace.n_heads - 1}
    allowance = allowance_of(trace.query, trace.key, weights)
    for head in heads:
        own, real = trace.masked_scores(head, rows).softmax(-1), weights[head, rows].float()
        if dropout:
            own, real = own.where(real != 0, 0), real * (1 - dropout)
        if not torch.allclose(own, real.to(own), rtol=0, atol=allowance, equal_nan=True):
            return False
        if context is not None:
            value = trace.value_of(head)
            sums, theirs = own.to(value) @ value, context[head, rows].to(value)
            size = float(value.abs().max().nan_to_num(1).clamp_min(1))
            if not torch.allclose(sums, theirs, rtol=0, atol=10 * allowance * size, equal_nan=True):
                return False
    return True


def agrees_in_context(trace: AttentionTrace, context: Tensor) -> bool:
    """Return whether a trace gives this context (n_heads, n_queries, d_v)."""
    allowance = 10 * allowance_of(trace.value) * float(trace.value.abs().max().clamp_min(1))
    own = torch.stack([trace.context(head) for head in range(trace.n_heads)])
    return torch.allclose(own, context.to(own), rtol=0, atol=allowance, equal_nan=True)
