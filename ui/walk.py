"""Walk along a sentence: previous, next, play, or jump to a word; one position at a time."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from ui.labels import distinct

SECONDS_PER_WORD = 0.9
MOST_JUMPS = 48
"""Positions up to which every one has a button of its own; beyond, a slider jumps."""
LONGEST_LABEL = 16
FAR = 10**6


def walk(name: str, labels: Sequence[str], *, first: int = 0, label: str = "Word") -> int:
    """Draw the controls and return the present position, from 0.

    The position is kept over reruns and page changes, and in the address as `?at=`. Arrow keys left and right walk.
    Call it inside a fragment whose `run_every` is walk_interval(name), so that playing reruns that alone.

    Args:
        name: prefix of its state.
        labels: one per position, at least one.
        first: where to begin.
        label: what a position is.
    """
    state, n = st.session_state, len(labels)
    key = f"{name}_at"
    if not isinstance(state.get(key), int):
        state[key] = _asked(first)
    state[key] = max(0, min(n - 1, state[key]))
    _follow_play(name, n)
    at = state[key]
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{name}_stepper"):
        st.button(
            "Previous",
            key=f"{name}_back",
            icon=":material/chevron_left:",
            shortcut="Left",
            disabled=at == 0,
            on_click=_go,
            args=(name, n, -1),
        )
        st.button(
            "Next",
            key=f"{name}_on",
            icon=":material/chevron_right:",
            icon_position="right",
            shortcut="Right",
            disabled=at == n - 1,
            on_click=_go,
            args=(name, n, 1),
        )
        playing = state.get(f"{name}_walking", False)
        st.button(
            "Pause" if playing else "Play",
            key=f"{name}_walk",
            icon=":material/pause:" if playing else ":material/play_arrow:",
            on_click=_toggle,
            args=(name, n),
        )
        st.caption(f"{label} {at + 1} of {n}")
    if n > MOST_JUMPS:
        st.slider(
            label,
            0,
            n - 1,
            key=key,
            persist_state="session",
            label_visibility="collapsed",
            on_change=_write,
            args=(name,),
        )
    elif n > 1:
        texts = distinct([_short(one) for one in labels])
        st.segmented_control(
            label,
            range(n),
            format_func=lambda place: texts[place],
            key=key,
            required=True,
            persist_state="session",
            wrap=True,
            label_visibility="collapsed",
            on_change=_write,
            args=(name,),
        )
    return at


def walk_interval(name: str) -> float | None:
    """Return the seconds after which the fragment around the controls must run again, for its `run_every`."""
    return SECONDS_PER_WORD if st.session_state.get(f"{name}_walking") else None


def walk_to(name: str, place: int) -> None:
    """Go to a position; call it before walk() draws, or in a callback."""
    st.session_state[f"{name}_at"] = place
    _write(name)


def walk_to_end(name: str) -> None:
    """Go to the last position of whatever is drawn next, and forget the one in the address."""
    st.session_state[f"{name}_at"] = FAR
    st.session_state[f"{name}_walking"] = False
    if "at" in st.query_params:
        del st.query_params["at"]


def _asked(first: int) -> int:
    asked = st.query_params.get("at", "")
    return int(asked) if asked.isdecimal() and len(asked) < 4 else first


def _short(text: str) -> str:
    """Return Markdown that shows a word as it was typed, cut if it is very long."""
    cut = text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
    return "".join(f"\\{one}" if one in "\\`*_{}[]()<>#+-.!|~:$&" else one for one in cut)


def _go(name: str, n: int, by: int) -> None:
    walk_to(name, max(0, min(n - 1, st.session_state[f"{name}_at"] + by)))


def _write(name: str) -> None:
    st.query_params["at"] = str(st.session_state[f"{name}_at"])


def _toggle(name: str, n: int) -> None:
    state = st.session_state
    state[f"{name}_walking"] = not state.get(f"{name}_walking", False)
    state[f"{name}_walk_changed"] = True
    state[f"{name}_tick"] = time.monotonic()
    if state[f"{name}_walking"] and state[f"{name}_at"] >= n - 1:
        state[f"{name}_at"] = 0


def _follow_play(name: str, n: int) -> None:
    """Go on when its time has come; stop at the end."""
    state = st.session_state
    if state.pop(f"{name}_walk_changed", False):
        st.rerun()  # the whole page, so that the fragment's clock starts or stops
    if not state.get(f"{name}_walking") or time.monotonic() - state[f"{name}_tick"] < 0.8 * SECONDS_PER_WORD:
        return
    if state[f"{name}_at"] >= n - 1:  # for a whole beat: no late message of the browser can take it back
        state[f"{name}_walking"] = False
        st.rerun()
    state[f"{name}_tick"] = time.monotonic()
    _go(name, n, 1)
