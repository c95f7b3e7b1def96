"""The stepper: one row of chips with the symbols of a trace's steps, previous, next, play, guess first."""

from __future__ import annotations

import time

import streamlit as st

from attention_core.attention.steps import steps_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from ui.layout import role_colour

SECONDS_PER_STEP = 2.0


def stepper(trace: AttentionTrace, name: str, first: str = "weights", modifier: str = "") -> Step:
    """Draw the stepper and return the chosen step.

    The choice is kept over reruns and page changes, and in the address as `?step=`. Arrow keys left and right step.
    Call it inside a fragment whose `run_every` is play_interval(name), so that playing reruns that alone.

    Args:
        trace: whose steps are stepped through.
        name: prefix of its state.
        first: the step to open on.
        modifier: such as "Shift+", held with the arrow keys where these alone do something else.
    """
    state = st.session_state
    by_name = {step.name: step for step in steps_of(trace)}
    names = list(by_name)
    if state.get(f"{name}_step") not in names:
        asked = st.query_params.get("step")
        state[f"{name}_step"] = asked if asked in names else first if first in names else names[0]
    _follow_play(name, names)
    place = names.index(state[f"{name}_step"])
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{name}_stepper"):
        st.button(
            "Previous",
            key=f"{name}_previous",
            icon=":material/chevron_left:",
            shortcut=f"{modifier}Left",
            disabled=place == 0,
            on_click=_go,
            args=(name, names, -1),
        )
        st.segmented_control(
            "Step",
            names,
            format_func=lambda one: by_name[one].symbol,
            key=f"{name}_step",
            required=True,
            label_visibility="collapsed",
            on_change=_remember,
            args=(name,),
            persist_state="session",
            wrap=True,
        )
        st.button(
            "Next",
            key=f"{name}_next",
            icon=":material/chevron_right:",
            icon_position="right",
            shortcut=f"{modifier}Right",
            disabled=place == len(names) - 1,
            on_click=_go,
            args=(name, names, 1),
        )
        playing = state.get(f"{name}_playing", False)
        st.button(
            "Pause" if playing else "Play",
            key=f"{name}_play",
            on_click=_toggle_play,
            args=(name, names),
            icon=":material/pause:" if playing else ":material/play_arrow:",
        )
        st.toggle(
            "Guess first", key=f"{name}_guess", persist_state="session", help="Hide each step until you reveal it."
        )
    return by_name[state[f"{name}_step"]]


def is_hidden(step: Step, name: str) -> bool:
    """Say whether the step is still to be guessed, and offer to reveal it if so."""
    state = st.session_state
    if not state.get(f"{name}_guess") or state.get(f"{name}_revealed") == step.name:
        return False
    st.html(
        f'<p style="font-size:1.25rem;margin:0.5rem 0">What will '
        f'<b style="color:{role_colour(step.role)}">{step.title.lower()}</b> look like? '
        f"A matrix of {step.shape[0]:,} x {step.shape[1]:,}.</p>"
    )
    st.button("Reveal", key=f"{name}_reveal", type="primary", on_click=_reveal, args=(name, step.name))
    return True


def _go(name: str, names: list[str], by: int) -> None:
    place = names.index(st.session_state[f"{name}_step"]) + by
    st.session_state[f"{name}_step"] = names[max(0, min(len(names) - 1, place))]
    _remember(name)


def _remember(name: str) -> None:
    st.session_state[f"{name}_revealed"] = None
    st.query_params["step"] = st.session_state[f"{name}_step"]


def _reveal(name: str, step: str) -> None:
    st.session_state[f"{name}_revealed"] = step


def play_interval(name: str) -> float | None:
    """Return the seconds after which the fragment around the stepper must run again, for its `run_every`."""
    return SECONDS_PER_STEP if st.session_state.get(f"{name}_playing") else None


def _toggle_play(name: str, names: list[str]) -> None:
    state = st.session_state
    state[f"{name}_playing"] = not state.get(f"{name}_playing", False)
    state[f"{name}_play_changed"] = True
    state[f"{name}_last_tick"] = time.monotonic()
    if state[f"{name}_playing"] and state[f"{name}_step"] == names[-1]:
        state[f"{name}_step"] = names[0]


def _follow_play(name: str, names: list[str]) -> None:
    """Go to the next step when its time has come; stop at the end."""
    state = st.session_state
    if state.pop(f"{name}_play_changed", False):
        st.rerun()  # the whole page, so that the fragment's clock starts or stops
    if not state.get(f"{name}_playing") or time.monotonic() - state[f"{name}_last_tick"] < 0.8 * SECONDS_PER_STEP:
        return
    if state[f"{name}_step"] == names[-1]:  # for a whole beat: no late message of the browser can take it back
        state[f"{name}_playing"] = False
        st.rerun()
    state[f"{name}_last_tick"] = time.monotonic()
    _go(name, names, 1)
