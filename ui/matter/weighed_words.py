"""A sentence shaded by its weights beside bars of weight and of what losing each word does; a click blocks a word.

A component rather than a chart: words keep their type and wrap as text does, and hovering lights both sides at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from ui.component import component

_component = component("weighed_words")


def pressed_word(name: str) -> int | None:
    """Return the word that was pressed last, from 0; None before any was."""
    pressed: dict[str, Any] | None = (st.session_state.get(f"{name}_weighed") or {}).get("pressed")
    place = (pressed or {}).get("place")
    return place if isinstance(place, int) else None


def weighed_words(
    name: str,
    words: Sequence[str],
    weights: Sequence[float],
    *,
    if_blocked: Sequence[float],
    if_removed: Sequence[float],
    positive: float,
    order: Sequence[int],
    blocked: Sequence[int],
    turned: Sequence[str],
    on_press: Callable[[], None],
) -> None:
    """Draw the sentence and the bars.

    Args:
        name: prefix of its state.
        words: as typed.
        weights: one per word.
        if_blocked: change of the probability of "positive" when attention may not look at the word.
        if_removed: change when the word is not there at all.
        positive: the probability of "positive" now.
        order: positions, heaviest first.
        blocked: positions that are blocked now.
        turned: what each word was read as where that differs from what was typed, else "".
        on_press: called after a word was pressed, see pressed_word.
    """
    _component(
        key=f"{name}_weighed",
        data={
            "words": list(words),
            "weights": [round(one, 5) for one in weights],
            "ifBlocked": [round(one, 8) for one in if_blocked],
            "ifRemoved": [round(one, 8) for one in if_removed],
            "positive": round(positive, 8),
            "uniform": 1 / len(words),
            "order": list(order),
            "blocked": list(blocked),
            "turned": list(turned),
        },
        default={"pressed": None},
        on_pressed_change=on_press,
    )
