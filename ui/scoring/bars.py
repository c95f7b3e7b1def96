"""Scores and weights of the same keys under all functions, as bars on common axes, and who prefers which key.

A component rather than an Altair chart because it is redrawn many times a second while an arrow is dragged: building
and checking an Altair chart takes Python longer than all of the page's other work together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import streamlit as st
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.topics.scoring.compare import favourites, nearest_key
from ui.component import component
from ui.scoring.vector_plane import key_name

_component = component("score_bars")


def side_by_side(traces: Mapping[str, AttentionTrace], active: int) -> None:
    """Draw one block per function with one line per key, the active one at full strength."""
    rows = [
        {
            "name": name,
            "formula": trace.score.short,
            "scores": trace.scores(0)[0].tolist(),
            "weights": trace.weights(0)[0].tolist(),
        }
        for name, trace in traces.items()
    ]
    largest = max(abs(score) for row in rows for score in row["scores"])
    n_keys = len(rows[0]["scores"])
    _component(
        key="scoring_bars",
        data={
            "functions": rows,
            "keys": [key_name(place) for place in range(n_keys)],
            "limit": _nice_limit(largest),
            "active": active,
        },
    )


def verdict(traces: Mapping[str, AttentionTrace], query: Tensor, key: Tensor) -> None:
    """Say which function likes which key best, and which key is nearest."""
    by_key: dict[int, list[str]] = {}
    undecided = []
    for name, favourite in favourites(traces).items():
        if favourite.key is None:
            undecided.append(name)
        else:
            by_key.setdefault(favourite.key, []).append(f"{name} ({favourite.weight:.0%})")
    parts = [f"**{key_name(place)}**: {', '.join(names)}" for place, names in sorted(by_key.items())]
    if undecided:
        parts.append(f"nobody in particular: {', '.join(undecided)}")
    st.markdown(f"Largest weight to {'; '.join(parts)}. Nearest to q is **{key_name(nearest_key(query, key))}**.")


def _nice_limit(largest: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, ... that is not below: an axis that seldom jumps while scores move."""
    if not math.isfinite(largest) or largest <= 1:
        return 1
    power = 10 ** math.floor(math.log10(largest))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= largest)
