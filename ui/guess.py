"""A guess before the answer: of the next step's largest number, or of what comes of a page's surprise."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from ui.state import following

HIDDEN = "{ opacity: 0; visibility: hidden; }"
"""The look of what gives a guess away."""


def ask_guess(question: str, options: Mapping[Any, str], key: str, guess: Any, on_guess: Callable[[Any], None]) -> None:
    """Ask for one of some options, with the words for each; None = there is no guess yet, or it was taken back."""
    follows = following(key, guess if guess in options else None, on_guess)
    st.segmented_control(question, list(options), format_func=options.__getitem__, **follows)


def show_verdict(guess: str, is_right: bool | None, outcome: str) -> None:
    """Show what was guessed, None = nothing was, beside what came out, both Markdown."""
    said = "" if is_right is None else "**Right**: " if is_right else "**Not so:** "
    (st.success if is_right else st.info)(f"{guess} {said}{outcome}")
