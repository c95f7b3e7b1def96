"""Fragments, what reruns alone of a page, have names: a callback says which it changes, and those rerun."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from ui.state import APP, Field

BODY = "page_body"
"""The fragment of all below a page's heading, which reruns when one inside it changes what is above."""
FRAGMENT_NAMES = Field[set[str]](APP, "parts_drawn", set)
"""The names of the fragments that the last full run of the page has drawn."""


def rerun_fragments(*names: str) -> None:
    """Rerun these fragments in place of the one with the clicked widget; the full page if none of them is drawn.

    It ends the callback that calls it.
    """
    st.rerun([name for name in names if name in FRAGMENT_NAMES.value] or "app")


def with_rerun(act: Callable[..., object], *names: str) -> Callable[..., None]:
    """Return a callback that acts and then reruns these fragments, by default the page's body."""

    def run(*arguments: Any) -> None:
        act(*arguments)
        rerun_fragments(*names or (BODY,))

    return run
