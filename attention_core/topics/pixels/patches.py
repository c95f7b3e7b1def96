"""Where the class token of a vision transformer over a digit looks: layer by layer, and through all layers."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.explain.heads import rollout
from attention_core.models.digit_vit import GRID


def class_maps(traces: Sequence[AttentionTrace]) -> Tensor:
    """Return what the class token pays to each patch, (n_layers, n_heads, 7, 7); the rest it pays to itself."""
    rows = [torch.stack([trace.weights(head, [0])[0, 1:] for head in range(trace.n_heads)]) for trace in traces]
    return torch.stack(rows).unflatten(-1, GRID)


def class_rollout(traces: Sequence[AttentionTrace]) -> Tensor:
    """Return what each patch could have contributed to the class token through all layers, (7, 7), by rollout."""
    return torch.as_tensor(rollout(traces).rolled)[0, 1:].unflatten(-1, GRID)
