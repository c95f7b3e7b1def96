"""A recording from a file as a run of the page: named on the command line, or uploaded."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from attention_core.hub.run import ModelRun
from ui.opened import opened_recording

MOST_MEGABYTES = 1000
"""What a recording may take in memory, so that one visitor's file leaves room for the others."""


def opened_run() -> ModelRun | None:
    """Return the recording that the app was started with; says what is wrong with the file if it cannot be opened."""
    file = opened_recording()
    return None if file is None else _run_or_complaint(lambda: _run_of(str(file), file.name, file.stat().st_mtime))


def uploaded_run(name: str) -> ModelRun | None:
    """Draw a place for a recording's file and return the recording in it, or None; says what is wrong with it."""
    upload = st.file_uploader(
        "A recording, run.npz", type="npz", key=f"{name}_recording", help=f"At most {MOST_MEGABYTES:,} MB in memory."
    )
    if upload is not None:
        return _run_or_complaint(lambda: _run_of(upload.file_id, upload.name, 0, upload))
    st.caption(
        "In a notebook: `with attention_core.capture() as p: my_model(x)`, then `p.save('run.npz')`. Or start the "
        "app with it: `streamlit run app.py -- run.npz`."
    )
    return None


def _run_or_complaint(read: Callable[[], ModelRun]) -> ModelRun | None:
    try:
        return read()
    except (OSError, ValueError) as error:
        reason = f"There is no file {error.filename}." if isinstance(error, FileNotFoundError) else error
        st.error(f"**The file cannot be opened.** {reason}", icon=":material/error:")
        return None


@st.cache_resource(max_entries=4, show_spinner="Opening the recording")
def _run_of(path: str, name: str, changed: float, _upload: Any = None) -> ModelRun:
    from attention_core.attention.recording import load_recording
    from attention_core.hub.run import recording_run

    with tempfile.TemporaryDirectory() as folder:
        file = Path(path)
        if _upload is not None:
            file = Path(folder) / "run.npz"
            file.write_bytes(_upload.getbuffer())
        recording = load_recording(file, most_bytes=MOST_MEGABYTES * 1_000_000)
    if not recording.traces:
        raise ValueError(f"{name} holds no attention: nothing was recorded")
    return recording_run(recording, name)
