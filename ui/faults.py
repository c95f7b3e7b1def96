"""Notices of what fails below a page: no memory, a missing file, a lost GPU, files changed since the start."""

import gc
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import streamlit as st

from attention_core.files import ROOTS, find_file
from attention_core.log import log
from ui.labels import error_markdown
from ui.lecture.mode import LECTURE
from ui.state import APP, Field

APP_FILES = ("app.py", "pages", "ui", "attention_core")
RESTART_NOTICE = "The files of this app have changed since it was started, so it has to be restarted."
CHANGED = Field[bool | None](APP, "files_changed", None)
"""Whether files had changed when this visitor came; None before it was checked."""


def _written(file: str) -> tuple[int, int]:
    stat = os.stat(file)  # noqa: PTH116  six times as quick as by its path, for every visitor
    return stat.st_size, stat.st_mtime_ns


_PATHS = [path for name in APP_FILES for path in (find_file(name), *find_file(name).rglob("*.py"))]
_AT_START = {str(path): _written(str(path)) for path in _PATHS if path.is_file()}


def have_changed() -> bool:
    """Return whether a file was written or removed since the start; about 1 ms. A watched app reloads by itself."""
    if st.get_option("server.fileWatcherType") != "none":
        return False
    try:
        return any(_written(file) != before for file, before in _AT_START.items())
    except FileNotFoundError:
        return True


def show_restart_notice() -> None:
    """Say above the page that the app has to be restarted; the files are looked at once for each visitor."""
    if CHANGED.value is None:
        CHANGED.value = have_changed()
    if CHANGED.value and not LECTURE.value:
        st.warning(RESTART_NOTICE)


def explains_failure() -> bool:
    """Return whether changed files are why a part of a page failed; say so, unless the page does already."""
    if not have_changed():
        return False
    if not CHANGED.value:
        st.warning(RESTART_NOTICE)
    return True


GPU_LOST = Field(APP, "gpu_lost", False)
FILE_LEFT = Field(APP, "file_left", False)
"""Whether what the visitor looks at has left the memory, see ui.opened_files."""
FILE_OPENED = Field(APP, "file_opened", -math.inf)
"""When it was opened anew. Pages with clocks would take the memory from each other for ever without a time between."""
SECONDS_BETWEEN_OPENINGS = 60.0
NO_MEMORY = "**There is not enough memory for this just now.** Make the input smaller, or try again in a moment."
_BUTTONS = count()


def _is_of_app(error: Exception) -> bool:
    """Return whether a file of the app could not be read, such as a component's script."""
    path = getattr(error, "filename", None)
    return isinstance(error, OSError) and isinstance(path, str) and any(str(root) in path for root in ROOTS)


@contextmanager
def show_faults() -> Iterator[None]:
    """Show that memory ran out or a file is missing; go on without a lost GPU. All other exceptions are raised."""
    try:
        yield
    except Exception as error:
        from attention_core.data.mnist import DataError
        from attention_core.device import choose_device, computes, disable_device, lacks_memory
        from attention_core.weights import WeightsError

        device = choose_device()
        if isinstance(error, WeightsError | DataError) or _is_of_app(error):
            log.warning("A page cannot go on", exc_info=True)
            reason = error_markdown(f"{Path(error.filename).name} is missing." if isinstance(error, OSError) else error)
            st.error(f"**The page needs a file that cannot be read.** {reason}", icon=":material/error:")
        elif lacks_memory(error):
            log.warning("No memory for a visitor's page", exc_info=True)
            gc.collect()
            st.error(NO_MEMORY, icon=":material/memory:")
            st.button("Try again", key=f"fault_again_{next(_BUTTONS)}")
        elif isinstance(error, ReferenceError) and time.monotonic() < FILE_OPENED.value + SECONDS_BETWEEN_OPENINGS:
            st.info("Others need the memory of your file just now.", icon=":material/memory:")
            st.button("Try again", key=f"fault_again_{next(_BUTTONS)}", on_click=FILE_OPENED.reset)
        elif isinstance(error, ReferenceError):
            FILE_LEFT.value, FILE_OPENED.value = True, time.monotonic()
            st.rerun()  # the whole page, which opens it anew
        elif device != "cpu" and not computes(device):
            log.error("%s is lost; all is computed on the CPU from now on", device, exc_info=True)
            disable_device(device)
            st.cache_resource.clear()  # what lies on the device is lost with it
            GPU_LOST.value = True
            st.rerun()
        elif explains_failure():
            log.warning("Files of the app have changed since it was started", exc_info=True)
        else:
            raise


def show_what_was_lost() -> None:
    """Say once to the visitor who met it that the GPU is lost, or that a file has left the memory."""
    if FILE_LEFT.value:
        FILE_LEFT.value = False
        st.toast("Others needed the memory: what you look at was opened anew.", icon=":material/memory:")
    if GPU_LOST.value:
        GPU_LOST.value = False
        st.toast(
            "The GPU has stopped answering. All is computed on the CPU now, and takes longer.", icon=":material/memory:"
        )
