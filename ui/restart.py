"""A notice that the app's files have changed since it was started."""

import os

import streamlit as st

from attention_core.files import find_file
from ui.lecture import LECTURE
from ui.state import APP, Field

OWN = ("app.py", "pages", "ui", "attention_core")
WORDS = "The files of this app have changed since it was started, so it has to be restarted."
CHANGED = Field[bool | None](APP, "files_changed", None)
"""Whether they had when this visitor came; None before it was checked."""


def _written(file: str) -> tuple[int, int]:
    stat = os.stat(file)  # noqa: PTH116  six times as quick as by its path, for every visitor
    return stat.st_size, stat.st_mtime_ns


_FILES = [str(file) for name in OWN for file in (find_file(name), *find_file(name).rglob("*.py")) if file.is_file()]
_AT_START = {file: _written(file) for file in _FILES}


def have_changed() -> bool:
    """Return whether a file was written or removed since the start; about 1 ms. A watched app reloads by itself."""
    if st.get_option("server.fileWatcherType") != "none":
        return False
    try:
        return any(_written(file) != was for file, was in _AT_START.items())
    except FileNotFoundError:
        return True


def show_restart_notice() -> None:
    """Say above the page that the app has to be restarted; the files are looked at once for each visitor."""
    if CHANGED.value is None:
        CHANGED.value = have_changed()
    if CHANGED.value and not LECTURE.value:
        st.warning(WORDS)


def explains_failure() -> bool:
    """Return whether changed files are why a part of a page failed; say so, unless the page does already."""
    if not have_changed():
        return False
    if not CHANGED.value:
        st.warning(WORDS)
    return True
