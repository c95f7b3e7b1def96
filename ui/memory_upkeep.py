"""Keeps a running server's memory small: collects garbage, forgets visitors that left, returns memory to the system."""

import asyncio
import ctypes
import gc
import sys
from contextlib import suppress
from functools import cache
from typing import Any

from ui.inside_streamlit import forget_what_visitors_left, keep_all_downloads, server_started

SECONDS_BETWEEN = 15.0
SECONDS_TO_FETCH = 60.0
"""In which a browser has fetched what it asked for."""
ARENAS, MMAPPED = (-8, 2), (-3, 2**20)
"""Settings of glibc (malloc.h): memory pools for all threads together, and the bytes from which a piece has its own."""


def share_memory() -> None:
    """Let visitors' threads share memory, and large pieces go back when they are free; before there are threads."""
    for setting in (ARENAS, MMAPPED) if _glibc() else ():
        _glibc().mallopt(*setting)


async def keep_memory_small() -> None:
    """Free memory from time to time; for as long as the server runs."""
    await server_started()
    keep_all_downloads(SECONDS_TO_FETCH)
    while True:
        await asyncio.sleep(SECONDS_BETWEEN)
        with suppress(AttributeError, RuntimeError):  # of another version of Streamlit, or while a run adds some
            forget_what_visitors_left()
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
