"""Scores and weights of the same keys under several functions, as bars on common axes.

A component rather than an Altair chart because it is redrawn many times a second while an arrow is dragged: building
and checking an Altair chart takes Python longer than all of the page's other work together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ui.component import component

_component = component("score_bars")


def score_bars(
    name: str,
    scores: Mapping[str, Sequence[float]],
    weights: Mapping[str, Sequence[float]],
    formulas: Mapping[str, str],
    keys: Sequence[str],
    *,
    active: int,
) -> None:
    """Draw one block per function with one line per key.

    Args:
        name: prefix of its state.
        scores: function -> one score per key.
        weights: function -> one weight per key.
        formulas: function -> HTML of our own.
        keys: names of the keys.
        active: the key to draw at full strength, from 0.
    """
    largest = max(abs(score) for row in scores.values() for score in row)
    _component(
        key=f"{name}_bars",
        data={
            "functions": [
                {
                    "name": function,
                    "formula": formulas[function],
                    "scores": list(row),
                    "weights": list(weights[function]),
                }
                for function, row in scores.items()
            ],
            "keys": list(keys),
            "limit": nice_limit(largest),
            "active": active,
        },
    )


def nice_limit(largest: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, ... that is not below: an axis that seldom jumps while scores move."""
    if not math.isfinite(largest) or largest <= 1:
        return 1
    power = 10 ** math.floor(math.log10(largest))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= largest)
