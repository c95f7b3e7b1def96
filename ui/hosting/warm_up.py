"""Warms a cold server: libraries are imported behind a painted page, and every page is visited once before visitors."""

import asyncio
import ctypes
import gc
import os
import sys
import threading
import time
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import cache
from importlib import import_module
from typing import Any

import streamlit as st

from attention_core.bounds.limits import is_hosted
from attention_core.concurrency import Lock
from attention_core.files import note_missing
from attention_core.log import counting_repeats, log
from ui.inside_streamlit import FirstVisitor, forget_visitors, keep_downloads, show_our_navigation
from ui.navigation import PAGES

SECONDS_BETWEEN = 15.0
SECONDS_TO_FETCH = 60.0
"""In which a browser has fetched what it asked for."""
ARENAS, MMAPPED = (-8, 2), (-3, 2**20)
"""Settings of glibc (malloc.h): memory pools for all threads together, and the bytes from which a piece has its own."""


def share_memory() -> None:
    """Set malloc so that threads share pools and large blocks go back when freed; before there are threads."""
    for setting in (ARENAS, MMAPPED) if _glibc() else ():
        _glibc().mallopt(*setting)


async def server_started() -> None:
    """Wait until Streamlit's server runs."""
    while not st.runtime.exists():
        await asyncio.sleep(0.1)


async def keep_memory_small() -> None:
    """Free memory from time to time; for as long as the server runs."""
    await server_started()
    keep_downloads(SECONDS_TO_FETCH)
    while True:
        await asyncio.sleep(SECONDS_BETWEEN)
        with suppress(AttributeError, RuntimeError):  # of another version of Streamlit, or while a run adds some
            forget_visitors()
        await asyncio.to_thread(_give_back)


def _give_back() -> None:
    """Collect what no run needs any more, and let the system have the memory."""
    gc.collect()
    if _glibc():
        _glibc().malloc_trim(0)


@cache
def _glibc() -> Any:
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if hasattr(library, "malloc_trim") else None


LIBRARIES = ("torch", "pandas", "attention_core.charts", "transformers.models.bert.modeling_bert")
HEAD_START = 10.0
"""Seconds that a visitor who comes with the server has it alone."""
SECONDS_TO_PAINT = 0.3
"""Until the browser has what it shows meanwhile: an import leaves little to the thread that sends it."""
FEW_DESCRIPTORS = 4096
"""Files and connections; a page that opens takes DESCRIPTORS_OF_A_PAGE for two minutes, and then one."""
DESCRIPTORS_OF_A_PAGE = 3
SECONDS_OF_A_LINE = 60.0
"""Within which a line of the log is written once."""
_IMPORTED, _TURN = threading.Event(), Lock("import libraries")


def is_warm() -> bool:
    """Return whether the libraries of all pages are imported."""
    return _IMPORTED.is_set()


def import_libraries() -> None:
    """Import the libraries of all pages; a second thread waits for the first."""
    with _TURN:
        try:
            for name in () if is_warm() else LIBRARIES:
                with note_missing(name):
                    import_module(name)
            if not is_warm():
                import_module("altair.utils.schemapi").disable_debug_mode()  # tests check the charts
                freeze_garbage_collector()
        finally:
            _IMPORTED.set()  # what cannot be imported is told by the pages


def freeze_garbage_collector() -> None:
    """Exempt all present objects from garbage collection: code, models, first examples."""
    gc.collect()
    gc.freeze()


async def _visit_all_pages() -> None:
    """Be the first visitor of every page, so that models and first examples are there for the next; at half speed."""
    await server_started()
    visitor = FirstVisitor()
    if os.environ.get("ATTENTION_WARM") == "0":
        return
    await asyncio.sleep(HEAD_START)
    await asyncio.to_thread(import_libraries)
    for entry in PAGES:
        began = time.monotonic()
        await visitor.visit(entry.url_path)
        await asyncio.sleep(time.monotonic() - began)
    await asyncio.to_thread(freeze_garbage_collector)


def allow_descriptors() -> None:
    """Let this process have as many files and connections as the system allows; on a public server say if few."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = 2**16 if hard == resource.RLIM_INFINITY else hard
    with suppress(OSError, ValueError):  # macOS allows less than it says
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed < FEW_DESCRIPTORS and is_hosted():
        log.warning(
            "Only %s files and connections are allowed, and a page takes three for two minutes: %s pages can be opened "
            "in that time. %s are right for a public server. The command ulimit -n, or LimitNOFILE= of systemd, raises "
            "it.",
            f"{allowed:,}",
            f"{allowed // DESCRIPTORS_OF_A_PAGE:,}",
            f"{FEW_DESCRIPTORS:,}",
        )


async def _every_minute(do: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(SECONDS_OF_A_LINE)
        do()


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Warm the server, beside whatever visitors ask of it, while it runs."""
    show_our_navigation()
    if not st.get_option("server.headless"):  # what Streamlit does for scripts, but not for an st.App
        webbrowser.open(f"http://localhost:{st.get_option('server.port')}")
    if is_hosted():
        st.set_option("client.showErrorDetails", "none")  # a traceback names files of the server
    allow_descriptors()
    share_memory()
    with counting_repeats() as log_repeats:
        routines = _visit_all_pages(), keep_memory_small(), _every_minute(log_repeats)
        tasks = [asyncio.create_task(routine) for routine in routines]
        try:
            yield {}
        finally:
            for task in tasks:
                task.cancel()
