"""Tokens as running text, each shaded by one number; a click chooses a token.

A component rather than a chart: tokens keep their spaces and wrap as text does, and hovering needs no server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import streamlit as st

from ui.component import component

_component = component("token_chips")


class Chip(NamedTuple):
    """One token.

    Attributes:
        text: with the space before it, if it brings one.
        share: how strongly it is shaded, 0 to 1.
        note: its number in words, for hovering.
        colour: of the shade.
        written: whether the model or the visitor put it behind the input.
    """

    text: str
    share: float
    note: str
    colour: str
    written: bool = False


def chosen_chip(name: str) -> int | None:
    """Return the token that was clicked last, from 0; None before any was."""
    chosen = (st.session_state.get(f"{name}_chips") or {}).get("chosen")
    place = (chosen or {}).get("place")
    return place if isinstance(place, int) else None


def chips(
    name: str, shown: Sequence[Chip], *, chosen: int | None, label: str, hint: str, on_choose: Callable[[], None]
) -> None:
    """Draw the tokens.

    Args:
        name: prefix of their state.
        shown: the tokens in order.
        chosen: the one to frame, or None.
        label: what they are, for screen readers.
        hint: the line below while nothing is hovered.
        on_choose: called after a click, see chosen_chip.
    """
    _component(
        key=f"{name}_chips",
        data={
            "tokens": [{**chip._asdict(), "share": round(min(max(chip.share, 0.0), 1.0), 4)} for chip in shown],
            "chosen": chosen,
            "label": label,
            "hint": hint,
        },
        default={"chosen": None},
        on_chosen_change=on_choose,
    )
