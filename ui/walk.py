"""Walk along a sentence: previous, next, play, or jump to a word; one position at a time."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ui.labels import distinct
from ui.player import Player
from ui.state import Field, whole_number

SECONDS_PER_WORD = 0.9
MOST_JUMPS = 48
"""Positions up to which every one has a button of its own; beyond, a slider jumps."""
LONGEST_LABEL = 16
END = 10**6
"""A position that is always brought back to the last one."""


class Walk(Player[int]):
    """Walks along positions, from 0; the present one is in the address as `?at=`.

    Args:
        page: on whose page.
        first: where to begin.
        label: what a position is.
    """

    def __init__(self, page: str, *, first: int = 0, label: str = "Word") -> None:
        super().__init__(Field(page, "at", first, address="at", parse=whole_number), SECONDS_PER_WORD)
        self.label = label

    def draw(self, labels: Sequence[str]) -> int:
        """Draw the controls and return the present position; `labels` has one per position, at least one."""
        places = range(len(labels))
        self.field.within(0, places[-1])
        self.follow(places)
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{self.name}_stepper"):
            self.previous_button(places)
            self.next_button(places)
            self.play_button(places)
            st.caption(f"{self.label} {self.field.value + 1} of {len(places)}")
        if len(places) > MOST_JUMPS:
            st.slider(self.label, 0, places[-1], key=self.name, persist_state="session", label_visibility="collapsed")
        elif len(places) > 1:
            texts = distinct([_short(label) for label in labels])
            st.segmented_control(
                self.label,
                places,
                format_func=texts.__getitem__,
                key=self.name,
                required=True,
                persist_state="session",
                wrap=True,
                label_visibility="collapsed",
            )
        return self.field.value


def _short(text: str) -> str:
    """Return Markdown that shows a word as it was typed, cut if it is very long."""
    cut = text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
    return "".join(f"\\{one}" if one in "\\`*_{}[]()<>#+-.!|~:$&" else one for one in cut)
