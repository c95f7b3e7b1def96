"""Long work in portions, so that a click is heard in between: Streamlit lets no click interrupt a fragment."""

from __future__ import annotations

import time
from collections.abc import Iterator

import streamlit as st
from streamlit.errors import StreamlitAPIException

SECONDS = 1.0
"""Of one portion."""


def portion() -> Iterator[None]:
    """Yield until the time of one portion is over, at least once."""
    began = time.monotonic()
    yield
    while time.monotonic() - began < SECONDS:
        yield


def run_again() -> bool:
    """Run the fragment around this again for the next portion.

    Returns:
        False where the whole page is being run, because something else was clicked: then the work has to wait.
    """
    try:
        st.rerun(scope="fragment")
    except StreamlitAPIException:
        return False
