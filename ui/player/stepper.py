"""A player through the steps of a trace."""

import re
from collections.abc import Callable, Iterable, Sequence

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role, Step
from attention_core.bounds.harmless import as_markdown
from ui.chart import set_picture_subject
from ui.lecture.mode import LECTURE
from ui.player.play import Player
from ui.player.steps import steps_of
from ui.state import Field, single_choice

SECONDS_PER_STEP = 2.0
STORY = Role.SCORES, Role.WEIGHTS, Role.CONTEXT
"""What a lecture stops at of a trace, besides its last step."""


def stops_of(steps: Iterable[Step], current: str) -> list[str]:
    """Return the names of the steps that next and previous lead to: all, and in a lecture those of the story."""
    names = {step.name: step.role for step in steps}
    if not LECTURE.value:
        return list(names)
    last = {role: name for name, role in names.items()}  # of each role the one that the next is made of
    story = {current, *list(names)[-1:], *(last.get(role, "") for role in STORY)}
    return [name for name in names if name in story]


class Stepper(Player[str]):
    """Steps through a trace; the step is in the address as `?step=`, at first the first one unless told; see Player."""

    def __init__(self, page: str, first: str | Callable[[], str] = "", modifier: str = "") -> None:
        super().__init__(Field(page, "step", first, address="step"), SECONDS_PER_STEP, modifier)
        self.is_chart = Field(page, "step_chart", False, address="chart")

    def draw(self, trace: AttentionTrace) -> Step:
        """Draw the controls and return the present step."""
        set_picture_subject(trace.story.mechanism)
        by_name = {step.name: step for step in steps_of(trace)}
        names = list(by_name)
        self.field.clamp_to_options(names)
        self.advance_if_due(names)
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{self.name}_stepper"):
            chips = {name: _chip(step) for name, step in by_name.items()}
            single_choice("Step", self.field, chips, label_visibility="collapsed", wrap=True)
            stops = stops_of(by_name.values(), self.field.value)
            self.previous_button(stops)
            self.next_button(stops)
            self.play_button(names)
            self.is_chart.widget(st.toggle, "Chart")
        return by_name[self.field.value]

    def _on_play(self, values: Sequence[str]) -> None:
        current = self.field.value
        super()._on_play(values)
        if self.is_playing and self.field.value == current:
            self.go(values, 1)  # what is there already may stand still


def _chip(step: Step) -> str:
    """Return a step's words, as short as its title allows, and its symbol, which the skeleton's style puts below."""
    words = re.split("[:,]", step.title)[0]
    return words if words.lower() == step.symbol.lower() else f"{as_markdown(words)} :small[{as_markdown(step.symbol)}]"
