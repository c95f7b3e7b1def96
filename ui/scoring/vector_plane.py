"""A query and keys as arrows that a person drags; the drag is drawn in the browser, Python follows."""

from __future__ import annotations

from typing import Any

import streamlit as st

from ui.component import component

EXTENT = 4.0
"""The plane runs from -EXTENT to EXTENT in both directions."""
PAUSE = 90
"""Milliseconds between two messages to Python while an arrow is dragged."""

_component = component("vector_plane")


def take_move(name: str) -> dict[str, Any] | None:
    """Return what the plane last sent: query, keys, active, revision, sequence, moving; None before it has."""
    return (st.session_state.get(f"{name}_plane") or {}).get("moved")


def vector_plane(
    name: str,
    query: list[float],
    keys: list[list[float]],
    *,
    revision: int,
    answered: int,
    active: int,
    scale: float,
    on_move: Any,
) -> None:
    """Draw the plane. Call it last in its fragment: it counts a message as answered when it is drawn again.

    Args:
        name: prefix of its state.
        query: its two numbers.
        keys: two numbers each.
        revision: counts the changes that Python made; the plane takes over query and keys only when it has changed.
        answered: sequence number of the last message that was taken.
        active: the key whose angle is drawn, from 0.
        scale: factor on the dot products before the softmax.
        on_move: called after each message, see take_move.
    """
    _component(
        key=f"{name}_plane",
        data={
            "query": query,
            "keys": keys,
            "revision": revision,
            "answered": answered,
            "active": active,
            "scale": scale,
            "extent": EXTENT,
            "pause": PAUSE,
        },
        default={"moved": None},
        on_moved_change=on_move,
    )
