"""Figures of a model's card over all seeds with which it was trained."""

from collections.abc import Mapping
from typing import Any


def of_all_seeds(card: Mapping[str, Any], figure: str) -> list[float]:
    """Return a figure of the model itself, then of the same one trained with other seeds, if the card has them."""
    others = [one for one in card.get("other_seeds", {}).values() if isinstance(one, Mapping)]
    return [one[figure] for one in (card, *others)]


def figure_range(card: Mapping[str, Any], figure: str) -> str:
    """Return the lowest and the highest of an accuracy's values, such as "98.1% to 98.4%", or the one there is."""
    values = of_all_seeds(card, figure)
    lowest, highest = f"{min(values):.1%}", f"{max(values):.1%}"
    return lowest if lowest == highest else f"{lowest} to {highest}"


def mean_errors(card: Mapping[str, Any], figure: str, n: int) -> float:
    """Return how many of n an accuracy leaves wrong, on average over the seeds."""
    values = of_all_seeds(card, figure)
    return n * (1 - sum(values) / len(values))
