"""Numbers as guests at a party: whose lock two others can open, a head's answer, and its weights."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.key_pairs import pair_weights
from attention_core.attention.trace import AttentionTrace
from attention_core.data.match3 import matching_pairs
from ui.player import step_of

MISSED, WRONG = "missed", "wrong"
"""The faults of a head: a lock that can be opened called shut, and one that cannot called open."""


class Guest(NamedTuple):
    """A guest as a head answers for them."""

    name: str
    can_open: bool  # whether two others open the lock
    is_opened: bool  # whether the head says so

    @property
    def fault(self) -> str:
        """MISSED, WRONG, or ""."""
        return "" if self.is_opened == self.can_open else MISSED if self.can_open else WRONG


def guests_of(trace: AttentionTrace, numbers: list[int], names: Sequence[str]) -> list[Guest]:
    """Return the guests with the answers of the head whose trace it is."""
    shares = step_of(trace, "answer").value()[:, 1].tolist()
    pairs = [matching_pairs(numbers, query) for query in range(len(numbers))]
    return [Guest(name, bool(opening), share > 0.5) for name, opening, share in zip(names, pairs, shares, strict=True)]


def looks_of(trace: AttentionTrace, query: int) -> Tensor:
    """Return a guest's weights of the pairs (j, k), (n + 1, n + 1), symmetric; (j, j) is j alone.

    The last row and column stand for nobody.
    """
    if trace.story.key_axis.grid is None:
        return torch.diag(trace.weights(0, [query])[0])
    weights = pair_weights(trace, query)
    return weights + weights.T - torch.diag(weights.diag())
