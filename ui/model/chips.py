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


def chips(
    key: str,
    shown: Sequence[Chip],
    *,
    label: str,
    hint: str,
    chosen: int | None = None,
    on_choose: Callable[[int], None] = lambda place: None,
) -> None:
    """Draw the tokens, the chosen one framed, a hint below while none is hovered; a click is taken with its place."""

    def take() -> None:
        clicked = (st.session_state.get(key) or {}).get("chosen") or {}
        if isinstance(clicked.get("place"), int):
            on_choose(clicked["place"])

    _component(
        key=key,
        data={
            "tokens": [{**chip._asdict(), "share": round(min(max(chip.share, 0.0), 1.0), 4)} for chip in shown],
            "chosen": chosen,
            "label": label,
            "hint": hint,
        },
        default={"chosen": None},
        on_chosen_change=take,
    )
