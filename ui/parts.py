"""The parts of a page that run alone have names: a callback says which of them it changes, and those run, once."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from ui.state import APP, Field

BODY = "page_body"
"""All below a page's heading: what a change in a tab changes, the tab included."""
PART_NAMES = Field[set[str]](APP, "parts_drawn", set)
"""The names of the parts that the page has drawn, each of which it draws whenever it runs as a whole."""


def run_parts(*names: str) -> None:
    """Run these parts of the page instead of the one that was clicked in; the whole page where none of them is drawn.

    It ends the callback that calls it.
    """
    st.rerun([name for name in names if name in PART_NAMES.value] or "app")


def changing(act: Callable[..., object], *names: str) -> Callable[..., None]:
    """Return a callback that acts and then runs these parts of the page, by default its body."""

    def run(*arguments: Any) -> None:
        act(*arguments)
        run_parts(*names or (BODY,))

    return run
