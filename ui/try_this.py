"""Whether a page still has its line with what to try: it goes once that was done, or something else was."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import streamlit as st

from ui.state import APP, Field, fields_of

LINE = Field[Any](APP, "try_this", None)
"""In the session: what the address tells while the line stays, see `offer`; None = the page has none."""
GONE = '<span class="tried"></span>'
"""Hides the line, and itself, see ui.skeleton."""
NOTHING_TOLD: Mapping[str, str] = MappingProxyType({})


def forget() -> None:
    """Begin with a page that has no such line yet."""
    LINE.value = None


def offer(meanwhile: Mapping[str, str], done_in: str) -> bool:
    """Note a page's line, and return whether it is to be drawn; see ui.layout.who_asks."""
    LINE.value = meanwhile, done_in
    return _is_to_do(st.query_params.to_dict(), meanwhile, done_in)


def settle(told: Mapping[str, str]) -> None:
    """Hide the line once an address tells that it was done, or that something else was.

    A part that reruns alone cannot take away what stands outside: its mark hides the line.
    """
    line = LINE.value
    if line is not None and not _is_to_do(told, *line):
        st.html(GONE)


def _is_to_do(told: Mapping[str, str], meanwhile: Mapping[str, str], done_in: str) -> bool:
    aside = {"tab", *(field.address for field in fields_of(APP))}
    changed = {name: text for name, text in told.items() if name not in aside}
    return changed.items() <= meanwhile.items() and not (done_in and told.get("tab") == done_in)
