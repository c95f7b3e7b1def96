"""A recording from a file as a run of the page: named on the command line, or uploaded."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import streamlit as st

from attention_core.hub.run import ModelRun
from ui.opened import opened_recording

MOST_MEGABYTES = 1000
"""What a recording may take in memory, so that one visitor's file leaves room for the others."""
KEPT = 2
"""Recordings that the server keeps for all visitors together."""


def opened_run() -> ModelRun | None:
    """Return the recording that the app was started with; says what is wrong with the file if it cannot be opened."""
    file = opened_recording()
    if file is None:
        return None
    try:
        return _opened(str(file), file.stat().st_mtime)
    except (OSError, ValueError) as error:
        st.error(f"**The file cannot be opened.** {_in_words(error, file)}", icon=":material/error:")
        return None


def uploaded_run(name: str) -> ModelRun | None:
    """Draw a place for a recording's file and return the recording in it, or None; says what is wrong with it.

    Args:
        name: prefix of its state.
    """
    upload = st.file_uploader(
        "A recording, run.npz", type="npz", key=f"{name}_recording", help=f"At most {MOST_MEGABYTES:,} MB in memory."
    )
    if upload is None:
        st.caption(
            "In a notebook: `with attention_core.capture() as p: my_model(x)`, then `p.save('run.npz')`. Or start the "
            "app with it: `streamlit run app.py -- run.npz`."
        )
        return None
    try:
        return _uploaded(upload.file_id, upload.name, upload)
    except (OSError, ValueError) as error:
        st.error(f"**The file cannot be opened.** {_in_words(error, Path(upload.name))}", icon=":material/error:")
        return None


def _in_words(error: Exception, file: Path) -> str:
    if isinstance(error, FileNotFoundError):
        return f"There is no file {file}."
    return str(error)


@st.cache_resource(max_entries=KEPT, show_spinner="Opening the recording")
def _opened(path: str, changed: float) -> ModelRun:
    return _read(Path(path), Path(path).name)


@st.cache_resource(max_entries=KEPT, show_spinner="Opening the recording")
def _uploaded(file_id: str, name: str, _upload: Any) -> ModelRun:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.npz"
        path.write_bytes(_upload.getbuffer())
        return _read(path, name)


def _read(path: Path, name: str) -> ModelRun:
    from attention_core.attention.recording import load_recording
    from attention_core.hub.run import recording_run

    recording = load_recording(path, most_bytes=MOST_MEGABYTES * 1_000_000)
    if not recording.traces:
        raise ValueError(f"{name} holds no attention: nothing was recorded")
    return recording_run(recording, name)
