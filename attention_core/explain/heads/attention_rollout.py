"""Attention rollout: what each position of the input could have contributed, followed through all layers."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.explain.heads.summary import is_of_itself

MOST_POSITIONS = 1024
"""Rollout multiplies whole n x n matrices: beyond this many positions it takes seconds and hundreds of megabytes."""
RESIDUAL = 0.5  # share of each position that passes a layer beside the attention


class Rollout(NamedTuple):
    """Attention followed through the layers.

    Attributes:
        rolled: (n, n), how much of each input position (column) is in each position after the last layer (row), by
            this account; rows sum to 1.
        last: (n, n), the last layer's weights, mean over its heads, beside which it is to be seen.
    """

    rolled: Tensor
    last: Tensor


def rollout(layers: Sequence[AttentionTrace]) -> Rollout:
    """Return the product over a stack's layers, from the first, of 0.5 A + 0.5 I, where A is the mean of the heads.

    The identity stands for the residual connection. A query that sees no key, and what a sink keeps, pass nothing on:
    each row of 0.5 A + 0.5 I is divided by its sum. Values, feed-forward layers and how large the residual really is do
    not enter, so that this is an account of the weights and none of what the model uses.

    Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3; the residual, equation 1.

    Raises:
        ValueError: cross-attention, layers of several lengths, or more than MOST_POSITIONS positions.
    """
    n = layers[0].n_queries
    if not all(is_of_itself(trace) and trace.n_queries == n for trace in layers):
        raise ValueError("layers must be self-attention over the same positions in every layer, got other shapes")
    if n > MOST_POSITIONS:
        raise ValueError(f"layers must have at most {MOST_POSITIONS:,} positions for a rollout, got {n:,}")
    rolled, last = torch.eye(n), torch.eye(n)
    for trace in layers:
        last = mean_over_heads(trace)
        passed = (1 - RESIDUAL) * last + RESIDUAL * torch.eye(n)
        rolled = (passed / passed.sum(1, keepdim=True)) @ rolled
    return Rollout(rolled, last)


def mean_over_heads(trace: AttentionTrace) -> Tensor:
    """Return the mean of a layer's weights over its heads, (n_queries, n_keys), on the processor."""
    total = trace.weights(0).float()
    for head in range(1, trace.n_heads):
        total += trace.weights(head)
    return (total / trace.n_heads).cpu()
