"""Numbers as guests at a party: whose lock two others can open, what a head says of it, and whom it looks at."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.key_pairs import pair_weights
from attention_core.attention.trace import AttentionTrace
from attention_core.data.match3 import matching_pairs
from ui.player import step_of

MISSED, WRONG = "missed", "wrong"
"""What a head makes of a lock that can be opened, and of one that cannot, where it is not right."""


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
    pairs = [matching_pairs(numbers, place) for place in range(len(numbers))]
    return [Guest(name, bool(found), share > 0.5) for name, found, share in zip(names, pairs, shares, strict=True)]


def looks_of(trace: AttentionTrace, query: int) -> Tensor:
    """Return how much a guest looks at the pair (j, k), (n + 1, n + 1), symmetric; at (j, j) for j alone.

    The last row and column stand for nobody.
    """
    if trace.story.key_axis.grid is None:
        return torch.diag(trace.weights(0, [query])[0])
    weights = pair_weights(trace, query)
    return weights + weights.T - torch.diag(weights.diag())
