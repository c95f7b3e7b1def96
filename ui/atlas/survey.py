"""The survey: one pass over the whole matrix in small portions, with its progress, and what it costs in memory."""

from __future__ import annotations

import streamlit as st

from attention_core.atlas.size import kept_bytes, matrix_bytes
from ui.atlas.shelf import Shelf

AT_ONCE = 2**29
"""Pairs up to which a matrix is surveyed without asking: a few seconds."""
TICK = 0.05
"""Seconds between two portions, when clicks and other visitors have their turn."""


def begin_survey(name: str, shelf: Shelf) -> bool:
    """Return whether the matrix is being surveyed now; one that takes seconds is from the beginning.

    Args:
        name: prefix of its state.
        shelf: the matrix.
    """
    state = st.session_state
    if shelf.atlas.is_surveyed:
        return False
    if state.get(f"{name}_survey_of") != shelf.key:
        state[f"{name}_survey_of"] = shelf.key
        state[f"{name}_surveying"] = shelf.atlas.n_queries * shelf.atlas.n_keys <= AT_ONCE
    return state[f"{name}_surveying"]


def survey_interval(is_running: bool) -> float | None:
    """Return the seconds after which the fragment around survey_part must run again, for its `run_every`."""
    return TICK if is_running else None


def survey_part(name: str, shelf: Shelf) -> None:
    """Survey a portion, draw how far it is, and offer to stop or to go on.

    Args:
        name: prefix of its state.
        shelf: the matrix.
    """
    state, key = st.session_state, f"{name}_surveying"
    if state.pop(f"{name}_survey_changed", False):
        st.rerun()  # the whole page, so that the fragment's clock starts or stops
    if not shelf.atlas.is_surveyed:
        running = state.get(key, False)
        if running and shelf.survey() >= 1:
            state[key] = False
            st.rerun()
        share = shelf.atlas.surveyed
        st.progress(share, text=_progress_words(shelf, share, running))
        label = "Cancel" if running else "Go on" if share else "Survey the whole matrix"
        st.button(label, key=f"{name}_survey_button", on_click=_toggle, args=(name,))
    _costs(shelf)


def _toggle(name: str) -> None:
    state = st.session_state
    state[f"{name}_surveying"] = not state.get(f"{name}_surveying", False)
    state[f"{name}_survey_changed"] = True


def _progress_words(shelf: Shelf, share: float, running: bool) -> str:
    words = f"Surveyed: {share:.0%}"
    if shelf.seconds and share:
        words += f" in {_time(shelf.seconds)}, about {_time(shelf.seconds * (1 - share) / share)} to go"
    return (
        words
        if running
        else f"{words}. What is hatched is a glimpse, one exact row per block; zoomed in, all is exact."
    )


def _costs(shelf: Shelf) -> None:
    atlas = shelf.atlas
    took = f" Surveyed in {_time(shelf.seconds)}." if atlas.is_surveyed and shelf.seconds > 0.05 else ""
    st.caption(
        f"{atlas.n_queries:,} × {atlas.n_keys:,} weights would take **{_size(matrix_bytes(atlas))}**. Kept are the "
        f"queries, the keys and one number per row: **{_size(kept_bytes(atlas))}**.{took}"
    )


def _time(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def _size(n_bytes: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:,.3g} GB"
