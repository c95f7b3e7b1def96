"""Attention that may not choose."""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.attention.edits.edit import Edit, register


@register
@dataclass(frozen=True)
class Uniform(Edit):
    """Every query attends to all keys that it may see alike, in one head or in all: every score is 0."""

    name = "uniform"
    place = "factor"
    is_even = True

    head: int | None = None

    def factor(self) -> float:
        """Return 0."""
        return 0.0

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return f"it looks at everything alike{self.of_head}"
