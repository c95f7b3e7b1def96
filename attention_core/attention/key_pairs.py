"""2-simplicial attention: a query scores pairs of keys and receives pairs of values.

The score of query i with the pair (j, k) is trilinear, sum_h q_ih k'_jh k''_kh. If the two keys of a pair are
multiplied first, element by element, it is a dot product of the query with one key per pair. So it is the attention of
all other models over n x n keys, attend(query, pair_products(*keys), pair_products(*values)); the mask has all pairs in
one row, too. Trace, steps and export come with it.

Source: Clift et al. 2019, "Logic and the 2-simplicial transformer"; the trilinear form, scaled by 1 / sqrt(d_k):
Roy et al. 2025, "Fast and simplex: 2-simplicial attention in Triton", section 3.
"""

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis

MAX_PAIRS = 128 * 128  # pairs of keys that are laid out at once; more would need a kernel that goes tile by tile


def pair_products(first: Tensor, second: Tensor) -> Tensor:
    """Multiply every row of one matrix (..., n, d) with every row of another (..., m, d), element by element.

    The pair (j, k) is row j * m + k of the result, (..., n * m, d). A ValueError refuses other widths, or more pairs
    than MAX_PAIRS.
    """
    if first.shape[-1] != second.shape[-1]:
        raise ValueError(f"first and second need the same width, got {first.shape[-1]} and {second.shape[-1]}")
    n_pairs = first.shape[-2] * second.shape[-2]
    if n_pairs > MAX_PAIRS:
        raise ValueError(f"first and second make {n_pairs:,} pairs, at most {MAX_PAIRS:,} are laid out at once")
    return (first.unsqueeze(-2) * second.unsqueeze(-3)).flatten(-3, -2)


def pair_axis(axis: Axis) -> Axis:
    """Return the axis of all ordered pairs of positions; its grid is (n, n), so that charts draw a square."""
    labels = [f"({first}, {second})" for first in axis.labels for second in axis.labels]
    return Axis(f"pairs of {axis.name}", labels, (len(axis), len(axis)))


def pair_weights(trace: AttentionTrace, query: int) -> Tensor:
    """Return the slice of the n x n x n weights that belongs to one query: rows are j, columns k; it sums to 1."""
    return _square(trace, trace.weights(0, [query])[0])


def pair_scores(trace: AttentionTrace, query: int) -> Tensor:
    """Return one query's slice of the scores, (n_keys, n_keys); -inf where it may not attend."""
    return _square(trace, trace.masked_scores(0, [query])[0])


def _square(trace: AttentionTrace, row: Tensor) -> Tensor:
    if trace.story.key_axis.grid is None:
        raise ValueError(f"the keys of {trace.story.mechanism!r} are single {trace.story.key_axis.name}, not pairs")
    return row.view(trace.story.key_axis.grid)


def not_self_mask(n: int, n_extra_keys: int = 0) -> Tensor:
    """Return the mask of queries that look at everyone but themselves, (n, n + n_more); n_more keys have no query."""
    return ~torch.eye(n, n + n_extra_keys, dtype=torch.bool)


def distinct_pairs_mask(n: int, with_nobody: bool = False) -> Tensor:
    """Return the mask of a query that looks at pairs of two different others, bool (n, m, m) with m = n.

    With nobody, a further position at the end, m = n + 1, may be chosen only as the pair of itself with itself.
    """
    m = n + with_nobody
    single = not_self_mask(n, int(with_nobody))
    pairs = single[:, :, None] & single[:, None, :] & ~torch.eye(m, dtype=torch.bool)
    if with_nobody:
        pairs[:, n, :] = pairs[:, :, n] = False
        pairs[:, n, n] = True
    return pairs
