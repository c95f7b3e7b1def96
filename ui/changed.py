"""Notices that the app's own files have changed since it was started, while Streamlit does not watch them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from attention_core.files import find_file
from ui.state import APP, Field

OWN = ("app.py", "pages", "ui", "attention_core")
WORDS = "The files of this app have changed since it was started, so it has to be restarted."
CHANGED = Field[bool | None](APP, "files_changed", None)
"""Whether they had when this visitor came; None before anybody has looked."""


def _look() -> dict[Path, tuple[int, int]]:
    """Return size and time of each of the app's files; about 10 ms."""
    places = [find_file(name) for name in OWN]
    files = [file for place in places for file in (place, *place.rglob("*.py"))]
    return {file: (stat.st_size, stat.st_mtime_ns) for file in files if file.is_file() and (stat := file.stat())}


_AT_START = _look()


def have_changed() -> bool:
    """Return whether a file has been written, added or removed since the start; a watched app reloads by itself."""
    return st.get_option("server.fileWatcherType") == "none" and _look() != _AT_START


def tell_changes() -> None:
    """Say above the page that the app has to be restarted; the files are looked at once for each visitor."""
    if CHANGED.value is None:
        CHANGED.value = have_changed()
    if CHANGED.value:
        st.warning(WORDS)


def explains_failure() -> bool:
    """Return whether changed files are why a part of a page failed; say so, unless the page does already."""
    if not have_changed():
        return False
    if not CHANGED.value:
        st.warning(WORDS)
    return True
