"""Tidies a server while it runs: garbage and what visitors left behind go, memory goes back, downloads stay a while."""

import asyncio
import ctypes
import gc
import sys
import time
from contextlib import suppress
from functools import cache
from typing import Any, cast
from weakref import WeakKeyDictionary

from streamlit import runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.session_manager import SessionManager

SECONDS_BETWEEN = 15.0
SECONDS_TO_FETCH = 60.0
"""In which a browser has fetched what it asked for."""
_GONE: WeakKeyDictionary[AppSession, dict[str, Any]] = WeakKeyDictionary()
"""Widgets that were not here at the last look."""

ARENAS, MMAPPED = (-8, 2), (-3, 2**20)
"""Settings of glibc (malloc.h): memory pools for all threads together, and the bytes from which a piece has its own."""


def spare_memory() -> None:
    """Let visitors' threads share memory, and large pieces go back when they are free; before there are threads."""
    for setting in (ARENAS, MMAPPED) if _glibc() else ():
        _glibc().mallopt(*setting)


def keep_downloads(files: MediaFileManager, seconds: float = SECONDS_TO_FETCH) -> None:
    """Keep a file that was made for a download until its visitor's browser had the time to fetch it.

    Streamlit alone forgets it when two runs, of anybody, have ended since: with many visitors that is at once.
    """
    delete, orphaned = files._delete_file, WeakKeyDictionary[object, float]()

    def delete_later(file_id: str) -> None:
        now = time.monotonic()
        if now - orphaned.setdefault(files._file_metadata[file_id], now) >= seconds:
            delete(file_id)

    files._delete_file = delete_later  # type: ignore[method-assign]


def forget_visitors(sessions: SessionManager) -> None:
    """Forget who is away for two minutes now; Streamlit alone does with the next one who goes, however late that is."""
    cast(Any, sessions)._session_storage._cache.expire()


def forget_widgets(session: AppSession) -> None:
    """Forget widgets that are neither here now nor were at the last look; who is slow may still have pressed one.

    Streamlit alone keeps every widget that a session ever had, with all that its callback holds.
    """
    state = session.session_state
    known = state._new_widget_state.widget_metadata
    here = {*state._new_widget_state.states, *state._old_state}
    gone = {name: widget for name, widget in list(known.items()) if name not in here}
    for name in [name for name, widget in _GONE.get(session, {}).items() if gone.get(name) is widget]:
        known.pop(name, None)
        del gone[name]
    _GONE[session] = gone


async def tidied() -> None:
    """Tidy up from time to time; for as long as the server runs."""
    while not runtime.exists():
        await asyncio.sleep(0.1)
    keep_downloads(runtime.get_instance().media_file_mgr)
    sessions = runtime.get_instance()._session_mgr
    while True:
        await asyncio.sleep(SECONDS_BETWEEN)
        with suppress(AttributeError, RuntimeError):  # of another version of Streamlit, or while a run adds some
            forget_visitors(sessions)
            for info in sessions.list_sessions():
                forget_widgets(info.session)
        await asyncio.to_thread(_give_back)


def _give_back() -> None:
    """Collect what no run needs any more, and let the system have the memory."""
    gc.collect()
    if _glibc():
        _glibc().malloc_trim(0)


@cache
def _glibc() -> Any:
    """Return the C library, or None where it is another one."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if hasattr(library, "malloc_trim") else None
