"""Where to begin: the head in which one word looks hardest at another that is far away."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import torch

from attention_core.attention.trace import AttentionTrace

FAR = 4  # positions between a query and a key that count as far: beyond what looking at a neighbour explains
MOST_CELLS = 6_000_000  # weights of all heads together up to which all of them are looked through


class FarLook(NamedTuple):
    """The largest weight between positions far apart: in which layer of a group and head of it, all from 0."""

    layer: int
    head: int
    query: int
    key: int
    weight: float


def far_look(layers: Sequence[AttentionTrace], ignored: Collection[int] = ()) -> FarLook | None:
    """Return the largest weight from any query to a key at least FAR positions before or after it.

    Ignored positions, such as special tokens, count neither as queries nor as keys. None where there is no such pair,
    or where there are more than MOST_CELLS weights to look through.
    """
    if sum(trace.n_heads * trace.n_queries * trace.n_keys for trace in layers) > MOST_CELLS:
        return None
    best = None
    for layer, trace in enumerate(layers):
        queries, keys = torch.arange(trace.n_queries), torch.arange(trace.n_keys)
        counts = (queries[:, None] - keys).abs() >= FAR
        for position in ignored:
            counts[queries == position] = False
            counts[:, keys == position] = False
        for head in range(trace.n_heads):
            weights = trace.weights(head).cpu() * counts
            place = int(weights.argmax()) if weights.numel() else 0
            query, key = divmod(place, trace.n_keys)
            if counts.any() and (best is None or float(weights[query, key]) > best.weight):
                best = FarLook(layer, head, query, key, float(weights[query, key]))
    return best
