"""A player along positions, such as the words of a sentence."""

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from typing import Any

import streamlit as st

from attention_core.bounds.harmless import as_markdown
from ui.labels import distinct
from ui.lecture.mode import LECTURE
from ui.player.play import Player
from ui.state import Field, single_choice, whole_number

SECONDS_PER_WORD = 0.9
MAX_POSITION_BUTTONS = 48
"""Positions up to which every one has a button of its own; beyond, a slider jumps."""
LONGEST_LABEL = 16


class Walk(Player[int]):
    """Walks along positions, from 0, in the address as `?at=`; the label says what a position is."""

    def __init__(self, page: str, *, first: int = 0, label: str = "Word") -> None:
        super().__init__(Field(page, "at", first, address="at", parse=whole_number), SECONDS_PER_WORD)
        self.label = label

    def draw(self, labels: Sequence[str], stops: Collection[int] = ()) -> int:
        """Draw the controls and return the present position; `labels` has one per position, at least one.

        In a lecture, next and previous lead to the stops alone; none = to all.
        """
        positions = range(len(labels))
        self.field.clamp(0, positions[-1])
        self.advance_if_due(positions)
        in_line: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center", "gap": "xsmall"}
        beside: dict[str, Any] = {"width": "content"} if LECTURE.value else {}
        with st.container(**in_line) if LECTURE.value else nullcontext():
            with st.container(key=f"{self.name}_stepper", **in_line, **beside):
                within = {*stops, self.field.value} if stops and LECTURE.value else positions
                led_to = [position for position in positions if position in within]
                self.previous_button(led_to)
                self.next_button(led_to)
                self.play_button(positions)
                st.caption(f"{self.label} {self.field.value + 1} of {len(positions)}", **beside)
            if len(positions) > MAX_POSITION_BUTTONS:
                self.field.widget(st.slider, self.label, 0, positions[-1], label_visibility="collapsed")
            elif len(positions) > 1:
                names = dict(enumerate(distinct([_short(label) for label in labels])))
                single_choice(self.label, self.field, names, label_visibility="collapsed", wrap=True)
        return self.field.value


def _short(text: str) -> str:
    """Return Markdown that shows a word as it was typed, cut if it is very long."""
    cut = text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
    return as_markdown(cut)
