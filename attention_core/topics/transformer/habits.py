"""What a head does with a sentence, in a few words: looks at itself, at the piece before, at the end."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace

CLEAR = 0.35
"""A head has a habit when its queries give at least this share to one place, on average."""


class Habit(NamedTuple):
    words: str  # for people, such as "the piece before"
    share: float  # of the weights that goes there, mean over the queries that have such a place


def habits(weights: Tensor, *, of_itself: bool) -> list[Habit]:
    """Return where the queries look on average, largest share first.

    Args:
        weights: (n_queries, n_keys), rows sum to 1.
        of_itself: whether queries and keys are the same pieces (self-attention).

    Source: positional heads, Voita et al. 2019, section 5; Clark et al. 2019, section 3.
    """
    n_queries, n_keys = weights.shape
    found = [Habit("the last piece", float(weights[:, -1].mean()))]
    if of_itself:
        found.append(Habit("itself", _diagonal(weights, 0)))
        found.append(Habit("the first piece", float(weights[1:, 0].mean()) if n_queries > 1 else 0.0))
        if n_keys > 1:
            found.append(Habit("the piece before", _diagonal(weights, -1)))
            found.append(Habit("the piece after", _diagonal(weights, 1)))
    return sorted(found, key=lambda habit: -habit.share)


def habit_words(trace: AttentionTrace, head: int) -> str:
    """Return one phrase for a head of a trace: its clearest habit, or how widely it looks."""
    weights = trace.weights(head)
    best = habits(weights, of_itself=trace.story.query_axis is trace.story.key_axis)[0]
    if best.share >= CLEAR:
        return f"{best.share:.0%} on {best.words}"
    bits = float(-torch.xlogy(weights, weights).sum(1).mean()) / math.log(2)
    return f"spread over about {2**bits:.1f} pieces"


def _diagonal(weights: Tensor, offset: int) -> float:
    """Return the mean of a diagonal; those whose place is beyond the edge do not count."""
    diagonal = weights.diagonal(offset)
    return float(diagonal.mean()) if len(diagonal) else 0.0
