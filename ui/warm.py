"""What takes seconds on a cold server: imported once behind a painted page; every page is visited before anybody."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.pages_manager import PagesManager

from attention_core.bounds import is_hosted
from ui.libraries import import_transformers
from ui.navigation import PAGES
from ui.tidy import spare_memory, tidied

LIBRARIES = ("torch", "altair", "attention_core.charts")
HEAD_START = 10.0
"""Seconds that a visitor who comes with the server has it alone."""
SECONDS_TO_PAINT = 0.3
"""Until the browser has what it shows meanwhile: an import leaves little to the thread that sends it."""
_IMPORTED, _TURN = threading.Event(), threading.Lock()


def is_warm() -> bool:
    """Return whether what all pages need is imported."""
    return _IMPORTED.is_set()


def import_libraries() -> None:
    """Import what all pages need; whoever comes second waits for the first."""
    with _TURN:
        try:
            for name in () if is_warm() else LIBRARIES:
                import_module(name)
            if not is_warm():
                import_transformers()
                spare_what_stays()
        finally:
            _IMPORTED.set()  # what cannot be imported is told by the pages


def spare_what_stays() -> None:
    """Let the collector of garbage look no more at what is there now: code, models, first examples."""
    gc.collect()
    gc.freeze()


class _Browser(runtime.SessionClient):
    """Sees nothing but the end of a run."""

    def __init__(self) -> None:
        self.finished = asyncio.Event()

    def write_forward_msg(self, msg: ForwardMsg) -> None:
        if msg.WhichOneof("type") == "script_finished" and msg.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self.finished.set()


async def _visit_all_pages() -> None:
    """Be the first visitor of every page, so that models and first examples are there for the next; at half speed."""
    await asyncio.sleep(HEAD_START)
    await asyncio.to_thread(import_libraries)
    server, browser = runtime.get_instance(), _Browser()
    session = server.connect_session(browser, {})
    try:
        for entry in PAGES:
            began, asked = time.monotonic(), BackMsg()
            asked.rerun_script.page_name = entry.url_path
            browser.finished.clear()
            server.handle_backmsg(session, asked)
            await browser.finished.wait()
            await asyncio.sleep(time.monotonic() - began)
        await asyncio.to_thread(spare_what_stays)
    finally:
        server.close_session(session)


@asynccontextmanager
async def warmed(_app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Warm the server, beside whatever visitors ask of it, while it runs."""
    PagesManager.uses_pages_directory = False  # else pages/ is taken for the navigation until app.py has run once
    if not st.get_option("server.headless"):  # what Streamlit does for scripts, but not for an st.App
        webbrowser.open(f"http://localhost:{st.get_option('server.port')}")
    if is_hosted():
        st.set_option("client.showErrorDetails", "none")  # a traceback names files of the server
    spare_memory()
    visits = _visit_all_pages() if os.environ.get("ATTENTION_WARM") != "0" else asyncio.sleep(0)
    tasks = [asyncio.create_task(visits), asyncio.create_task(tidied())]
    try:
        yield {}
    finally:
        for task in tasks:
            task.cancel()
