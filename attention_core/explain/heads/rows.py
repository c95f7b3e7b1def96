"""Whole rows of a head's weights, and a sample of them where all would take too long."""

from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.pairs import masked
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import ALL, Rows

SMALL = 200_000_000
"""Pairs of all heads of a trace up to which its normalisers are computed once for all rows, a fraction of a second."""


class WholeRows(NamedTuple):
    """Some rows of a head over all keys."""

    scores: Tensor  # (n_rows, n_keys), before the mask
    weights: Tensor  # (n_rows, n_keys), as trace.weights gives them
    log_normaliser: Tensor  # (n_rows,), -inf for a query that sees no key
    allowed: Tensor | None  # bool (n_rows, n_keys), or None where every query may attend to every key


def whole_rows(trace: AttentionTrace, head: int, rows: Rows = ALL) -> WholeRows:
    """Return rows of a head's weights; of a long trace without the pass over all rows that trace.weights would need."""
    scores, allowed = trace.scores(head, rows), trace.allowed(head, rows)
    if knows_normaliser(trace):
        normaliser = trace.log_normaliser[head, rows]
    else:
        normaliser = trace.with_sinks(masked(scores, allowed).logsumexp(-1), head, rows)
    weights = trace.weights_of(scores.clone(), normaliser if trace.has_softmax else None, head, rows)
    return WholeRows(scores, weights, normaliser, allowed)


def knows_normaliser(trace: AttentionTrace) -> bool:
    """Return whether the normalisers of all rows are there or cost next to nothing."""
    known = trace.normaliser is not None or "log_normaliser" in vars(trace)
    return known or trace.n_heads * trace.n_queries * trace.n_keys <= SMALL


def spaced(n: int, most: int) -> Tensor:
    """Return at most so many of the positions 0 to n - 1, evenly spaced."""
    if n <= most:
        return torch.arange(n)
    return ((torch.arange(most) + 0.5) * n / most).long()
