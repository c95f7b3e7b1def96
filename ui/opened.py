"""The file that the app was started with, `streamlit run app.py -- run.npz`: a recording, or tensors for the atlas."""

import sys
from pathlib import Path

import streamlit as st

from ui.navigation import PAGES, path_of
from ui.state import APP, Field

PAGE_OF = {"recording": "model", "tensors": "atlas"}
SAW_OPENED = Field(APP, "saw_opened", False)


def opened_file() -> Path | None:
    """Return the file named behind `--` on the command line, whether it is there or not; None without."""
    if Path(sys.argv[0]).name != "app.py":  # another program runs the app, a test say, with arguments of its own
        return None
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    return Path(named[0]) if named else None


def opened_recording() -> Path | None:
    """Return the file of the command line unless it holds tensors; what is wrong with it shows when it is read."""
    file = opened_file()
    return file if file is not None and _kind_of(file) == "recording" else None


def go_to_opened(url_path: str) -> None:
    """Bring a visitor who has just arrived at the start page to the page that shows the opened file.

    Args:
        url_path: of the page that the visitor asked for; "" is the start page.
    """
    file = opened_file()
    if file is None or SAW_OPENED.value:
        return
    SAW_OPENED.value = True
    if not url_path:
        wanted = PAGE_OF[_kind_of(file)]
        st.switch_page(next(path_of(entry) for entry in PAGES if entry.url_path == wanted))


def _kind_of(file: Path) -> str:
    from attention_core.atlas import FileKind, kind_of_file

    try:
        return "tensors" if kind_of_file(file, file.name) is FileKind.TENSORS else "recording"
    except (OSError, ValueError):
        return "recording"
