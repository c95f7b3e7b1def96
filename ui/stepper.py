"""The stepper: one row of chips with the symbols of a trace's steps, previous, next, play, guess first."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attention_core.attention.steps import steps_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from ui.figures import say_subject
from ui.layout import role_colour
from ui.player import Player
from ui.state import Field, choice

SECONDS_PER_STEP = 2.0


class Stepper(Player[str]):
    """Steps through a trace; the step is in the address as `?step=`.

    Args:
        page: on whose page.
        name: tells it from another stepper of the page.
        first: the step to open on, or a function that says which.
        address: what the step is called in the address.
        modifier: see Player.
    """

    def __init__(
        self,
        page: str,
        name: str = "step",
        first: str | Callable[[], str] = "weights",
        address: str = "step",
        modifier: str = "",
    ) -> None:
        super().__init__(Field(page, name, first, address=address), SECONDS_PER_STEP, modifier)
        self.guesses = Field(page, f"{name}_guess", False)
        self.revealed = Field(page, f"{name}_revealed", "")

    def draw(self, trace: AttentionTrace) -> Step:
        """Draw the controls and return the chosen step."""
        say_subject(trace.story.mechanism)
        by_name = {step.name: step for step in steps_of(trace)}
        names = list(by_name)
        self.field.among(names)
        self.follow(names)
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{self.name}_stepper"):
            self.previous_button(names)
            symbols = {name: step.symbol for name, step in by_name.items()}
            choice("Step", self.field, symbols, label_visibility="collapsed", wrap=True)
            self.next_button(names)
            self.play_button(names)
            st.toggle(
                "Guess first",
                key=self.guesses.key,
                persist_state="session",
                help="Hide each step until you reveal it.",
            )
        step = by_name[self.field.value]
        if self.revealed.value != step.name:
            self.revealed.value = ""  # who comes back to a step guesses it again
        return step

    def hides(self, step: Step) -> bool:
        """Return whether the step is still to be guessed, and offer to reveal it if so."""
        if not self.guesses.value or self.revealed.value == step.name:
            return False
        st.html(
            f'<p style="font-size:1.25rem;margin:0.5rem 0">What will '
            f'<b style="color:{role_colour(step.role)}">{step.title.lower()}</b> look like? '
            f"A matrix of {step.shape[0]:,} x {step.shape[1]:,}.</p>"
        )
        st.button("Reveal", key=f"{self.name}_reveal", type="primary", on_click=self._reveal, args=(step.name,))
        return True

    def _reveal(self, name: str) -> None:
        self.revealed.value = name
