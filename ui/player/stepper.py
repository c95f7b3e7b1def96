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
LECTURE_ROLES = Role.SCORES, Role.WEIGHTS, Role.CONTEXT
"""Of a trace, a lecture stops at the last step of each of these roles, and at the very last one."""


def stop_names(steps: Iterable[Step], current: str) -> list[str]:
    """Return the names of the steps that next and previous lead to: all, but in a lecture few."""
    roles = {step.name: step.role for step in steps}
    if not LECTURE.value:
        return list(roles)
    last_of_role = {role: name for name, role in roles.items()}
    stops = {current, *list(roles)[-1:], *(last_of_role.get(role, "") for role in LECTURE_ROLES)}
    return [name for name in roles if name in stops]


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
            stops = stop_names(by_name.values(), self.field.value)
            self.previous_button(stops)
            self.next_button(stops)
            self.play_button(names)
            self.is_chart.widget(st.toggle, "Chart")
        return by_name[self.field.value]

    def _on_play(self, values: Sequence[str]) -> None:
        current = self.field.value
        super()._on_play(values)
        if self.is_playing and self.field.value == current:
            self.go(values, 1)  # the present step's animation may have ended


def _chip(step: Step) -> str:
    """Return the beginning of a step's title, and its symbol, which CSS puts below."""
    title = re.split("[:,]", step.title)[0]
    return title if title.lower() == step.symbol.lower() else f"{as_markdown(title)} :small[{as_markdown(step.symbol)}]"
