"""Heads together: the Jensen-Shannon distance of where they look, the one that looks hardest far away, and rollout.

Rollout follows attention through all layers: what each position of the input could have contributed.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.explain.heads.summary import evenly_spaced, is_of_itself, whole_rows

MAX_CELLS = 150_000_000
"""Heads x queries x keys that are compared with one head, less than a second on one core; with more, a sample of the
queries."""
MAX_NUMBERS = 8_000_000  # weights of one head kept at a time, 32 MB
MIN_ROWS = 8
_TINY = 1e-30  # stands for 0, so that x log x needs no exception: 1e-30 log2(1e-30) is 1e-28


class Distances(NamedTuple):
    """How far heads are from one of them.

    Attributes:
        row: (n_heads,), 0 = looks at the same, 1 = looks at nothing that the other looks at.
        n_sampled: queries over which each distance is a mean.
        n_queries: queries there are; all that any head is blind for are left out of the sample.
    """

    row: Tensor
    n_sampled: int
    n_queries: int


def distances_from(layers: Sequence[AttentionTrace], layer: int, head: int) -> Distances:
    """Return the distance of one head to every head of a group, layer by layer.

    The distance of two heads is the mean over queries of the square root of the Jensen-Shannon divergence, in bits, of
    the two rows of weights: sqrt(H((p + q) / 2) - (H(p) + H(q)) / 2), which is a metric between 0 and 1. What a sink
    keeps counts as one key more. Queries for which any of the heads sees no key are left out. For long inputs the mean
    is over evenly spaced queries, as many as MAX_CELLS allows and at least MIN_ROWS.

    Source: Lin 1991, "Divergence Measures Based on the Shannon Entropy"; heads compared in this way: Clark et al.
    2019, "What Does BERT Look At?", section 6. Metric: Endres and Schindelin 2003.

    Raises:
        ValueError: layers of several shapes.
    """
    n_keys = _one_shape(layers)[1] + 1
    n_heads = sum(trace.n_heads for trace in layers)
    rows, n_seen = _sample(layers, max(MIN_ROWS, min(MAX_CELLS // n_heads, MAX_NUMBERS) // n_keys))
    own = _rows(layers[layer], head, rows)
    own_entropy, found = _entropy(own), []
    for trace in layers:
        for other in range(trace.n_heads):
            others = _rows(trace, other, rows)
            found.append(_apart(own, others, own_entropy, _entropy(others)))
    row = torch.stack(found)
    row[sum(trace.n_heads for trace in layers[:layer]) + head] = 0
    return Distances(row, len(rows), n_seen)


def distances_head_for_head(first: Sequence[AttentionTrace], second: Sequence[AttentionTrace]) -> Tensor:
    """Return how far each head of one run is from the same head of another run, (n_layers, n_heads).

    The distance is that of distances_from, for two inputs with as many tokens, or two models of one shape, which a
    ValueError asks for. Given are the layers of a group in each run.
    """
    heads, others = ([trace.n_heads for trace in layers] for layers in (first, second))
    if heads != others or len(set(heads)) != 1:
        raise ValueError(f"first and second must have the same layers and heads, got {heads} and {others}")
    n_keys = _one_shape([*first, *second])[1] + 1
    rows, _ = _sample([*first, *second], max(MIN_ROWS, MAX_NUMBERS // n_keys))
    found = torch.zeros(len(first), heads[0])
    for layer, traces in enumerate(zip(first, second, strict=True)):
        for head in range(heads[0]):
            left, right = (_rows(trace, head, rows) for trace in traces)
            found[layer, head] = _apart(left, right, _entropy(left), _entropy(right))
    return found


def _apart(own: Tensor, other: Tensor, own_entropy: Tensor, entropy: Tensor) -> Tensor:
    divergence = _entropy((own + other) / 2) - (entropy + own_entropy) / 2
    return divergence.clamp(0, 1).sqrt().mean()


def _entropy(weights: Tensor) -> Tensor:
    return -(weights * weights.log2()).sum(-1)


def _rows(trace: AttentionTrace, head: int, rows: Tensor) -> Tensor:
    """Return some rows of a head as distributions, (n_rows, n_keys + 1): the last column is what no key got."""
    weights = whole_rows(trace, head, rows).weights.float()
    unspent = weights.new_zeros(len(weights), 1) if trace.sinks is None else 1 - weights.sum(1, keepdim=True)
    return torch.cat([weights, unspent], 1).clamp_min(_TINY)


def _sample(layers: Sequence[AttentionTrace], most: int) -> tuple[Tensor, int]:
    """Return evenly spaced queries, less those for which a head sees nothing, and how many there are to choose from.

    Which queries are blind is known only of those that are looked at: where all are, the others do not count.
    """
    n_queries = layers[0].n_queries
    rows = evenly_spaced(n_queries, most)
    sees = torch.ones(len(rows), dtype=torch.bool)
    for trace in layers:
        if not trace.has_mask:  # a causal query always sees itself
            continue
        for head in trace.heads_of_mask:
            allowed = trace.allowed(head, rows)
            if allowed is not None:
                sees &= allowed.any(1).cpu()
    return rows[sees], int(sees.sum()) if len(rows) == n_queries else n_queries


def _one_shape(layers: Sequence[AttentionTrace]) -> tuple[int, int]:
    shapes = {(trace.n_queries, trace.n_keys) for trace in layers}
    if len(shapes) != 1:
        raise ValueError(f"layers must have matrices of one shape, got {sorted(shapes)}")
    return shapes.pop()


FAR = 4  # positions between a query and a key that count as far: beyond what looking at a neighbour explains
MAX_LOOKED_THROUGH = 6_000_000  # weights of all heads together up to which all of them are looked through


class FarLook(NamedTuple):
    """The largest weight between positions far apart: in which layer of a group and head of it, all from 0."""

    layer: int
    head: int
    query: int
    key: int
    weight: float


def far_look(
    layers: Sequence[AttentionTrace], ignored: Collection[int] = (), among: Collection[tuple[int, int]] | None = None
) -> FarLook | None:
    """Return the largest weight from any query to a key at least FAR positions before or after it.

    Only heads `among` some, by layer and head, are looked at; None = all. Ignored positions, such as special tokens,
    count neither as queries nor as keys. None where there is no such pair, or where there
    are more than MAX_LOOKED_THROUGH weights to look through.
    """
    if sum(trace.n_heads * trace.n_queries * trace.n_keys for trace in layers) > MAX_LOOKED_THROUGH:
        return None
    best = None
    for layer, trace in enumerate(layers):
        queries, keys = torch.arange(trace.n_queries), torch.arange(trace.n_keys)
        counts = (queries[:, None] - keys).abs() >= FAR
        for position in ignored:
            counts[queries == position] = False
            counts[:, keys == position] = False
        for head in (head for head in range(trace.n_heads) if among is None or (layer, head) in among):
            weights = trace.weights(head).cpu() * counts
            place = int(weights.argmax()) if weights.numel() else 0
            query, key = divmod(place, trace.n_keys)
            if counts.any() and (best is None or float(weights[query, key]) > best.weight):
                best = FarLook(layer, head, query, key, float(weights[query, key]))
    return best


MAX_POSITIONS = 1024
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
        ValueError: cross-attention, layers of several lengths, or more than MAX_POSITIONS positions.
    """
    n = layers[0].n_queries
    if not all(is_of_itself(trace) and trace.n_queries == n for trace in layers):
        raise ValueError("layers must be self-attention over the same positions in every layer, got other shapes")
    if n > MAX_POSITIONS:
        raise ValueError(f"layers must have at most {MAX_POSITIONS:,} positions for a rollout, got {n:,}")
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
