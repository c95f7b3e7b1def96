"""Sharper or softer attention."""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.attention.edits.edit import Edit, EditError, register


@register
@dataclass(frozen=True)
class Temperature(Edit):
    """Every score is divided by this, in one head or in all; below 1 the largest one wins more.

    Raises:
        EditError: a temperature that is not above 0.
    """

    name = "temperature"
    place = "factor"
    is_even = True

    temperature: float
    head: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.temperature < float("inf"):
            raise EditError(f"a temperature must be above 0 and finite, got {self.temperature}")

    def factor(self) -> float:
        """Return 1 by the temperature."""
        return 1 / self.temperature

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return f"its scores are divided by {self.temperature:.4g}{self.of_head}"
