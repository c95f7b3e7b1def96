"""What the app needs of Streamlit's inside; tests/ui/test_inside_streamlit.py says what an upgrade has moved."""

import asyncio
import time
import weakref
from functools import wraps
from inspect import unwrap
from typing import Any, cast
from weakref import WeakKeyDictionary

import streamlit as st
from streamlit import runtime
from streamlit.elements.widgets.data_editor import DataEditorSerde, DataEditorState
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import StopException as StopException
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.session_manager import SessionManager
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.bounds.limits import JSON_BYTES

MAIN = st._main
"""The body of the page, in the container that is open."""
_REFUSALS: dict[str, str] = {}
"""By session, what was refused and is still to be shown."""
_OPEN: dict[int, tuple[int, int]] = {}
"""Each uploaded file that a script has in hand: which bytes are its, and how many."""
_GONE: WeakKeyDictionary[AppSession, dict[str, Any]] = WeakKeyDictionary()
"""Widgets that were not here at the last look."""
_read_edits, _open_file = unwrap(DataEditorSerde.deserialize), unwrap(UploadedFile.__init__)


@wraps(_read_edits)
def _read_bounded_edits(self: Any, ui_value: str | None) -> DataEditorState:
    """Read what was typed into cells; no table of a page has rows that come or go."""
    if ui_value is not None and len(ui_value) > JSON_BYTES.most:
        _refuse_here(f"What was put into the table is larger than {JSON_BYTES.millions} MB; it was left out.")
        ui_value = None
    state = _read_edits(self, ui_value)
    if n_added := len(state["added_rows"]):
        _refuse_here(f"{n_added:,} new rows came into the table; they were left out.")
    state["added_rows"].clear()
    state["deleted_rows"].clear()
    return state


@wraps(_open_file)
def _open_counted(self: UploadedFile, record: Any, file_urls: Any) -> None:
    _open_file(self, record, file_urls)
    _OPEN[id(self)] = id(record.data), len(record.data)
    weakref.finalize(self, _OPEN.pop, id(self), None).atexit = False


DataEditorSerde.deserialize = _read_bounded_edits  # type: ignore[method-assign]
UploadedFile.__init__ = _open_counted  # type: ignore[method-assign]


def files_of(session: str) -> list[int]:
    """Return the sizes of the uploaded files that the server keeps for a session, bytes."""
    return [len(file.data) for file in list(_storage().get(session, {}).values())]


def all_files() -> list[int]:
    """Return the sizes of all uploaded files in memory, bytes; a deleted one counts while a script has it in hand."""
    kept = {id(file.data): len(file.data) for files in list(_storage().values()) for file in list(files.values())}
    return list((kept | dict(list(_OPEN.values()))).values())


def let_go(session: str) -> None:
    """Make room: forget a session's files that no script has in hand, and all sessions whose browser has gone."""
    server, in_hand = runtime.get_instance(), {data for data, _ in list(_OPEN.values())}
    for file in list(_storage().get(session, {}).values()):
        if id(file.data) not in in_hand:
            server.uploaded_file_mgr.remove_file(session, file.file_id)  # type: ignore[attr-defined]
    for other in [one for one in list(_storage()) if not server.is_active_session(one)]:
        server.close_session(other)
        server.uploaded_file_mgr.remove_session_files(other)


def _storage() -> dict[str, dict[str, Any]]:
    return runtime.get_instance().uploaded_file_mgr.file_storage  # type: ignore[attr-defined,no-any-return]


def refuse(session: str, words: str) -> None:
    """Tell a session that something was refused: its page runs again and says so."""
    browser = runtime.get_instance().get_app_session(session)
    if browser is not None and session not in _REFUSALS:
        _REFUSALS[session] = words
        browser.request_rerun(browser._client_state)


def _refuse_here(words: str) -> None:
    if session := running_session():
        _REFUSALS[session] = words


def refusal() -> str | None:
    """Return what was refused to the running session and is still to be shown; once."""
    return _REFUSALS.pop(running_session(), None)


def keep_downloads(files: MediaFileManager, seconds: float) -> None:
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


def keep_all_downloads(seconds: float) -> None:
    """Keep what this server makes for downloads for so long."""
    keep_downloads(runtime.get_instance().media_file_mgr, seconds)


def forget_what_visitors_left() -> None:
    """Forget visitors who are away and widgets that are gone."""
    sessions = runtime.get_instance()._session_mgr
    forget_visitors(sessions)
    for info in sessions.list_sessions():
        forget_widgets(info.session)


def show_our_navigation() -> None:
    """Do not take the files of pages/ for the navigation until app.py has run once."""
    PagesManager.uses_pages_directory = False


async def server_started() -> None:
    """Wait until Streamlit's server runs."""
    while not runtime.exists():
        await asyncio.sleep(0.1)


class FirstVisitor(runtime.SessionClient):
    """A visitor of our own, who sees nothing but the end of a run, and never leaves.

    When the last one does, Streamlit forgets its scripts, and would read them again from files that may have changed
    under the modules in memory.
    """

    def __init__(self) -> None:
        self._finished = asyncio.Event()
        self._session = runtime.get_instance().connect_session(self, {})

    def write_forward_msg(self, msg: ForwardMsg) -> None:
        if msg.WhichOneof("type") == "script_finished" and msg.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self._finished.set()

    async def visit(self, page: str) -> None:
        """Run a page, named as in its address."""
        asked = BackMsg()
        asked.rerun_script.page_name = page
        self._finished.clear()
        runtime.get_instance().handle_backmsg(self._session, asked)
        await self._finished.wait()


def running_session() -> str:
    """Return the session that runs in this thread; "" = none."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def runs_alone() -> bool:
    """Return whether this is the run of a part, and not of a whole page."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and bool(context.fragment_ids_this_run)


def came_by_history() -> bool:
    """Return whether the browser's Back or Forward brought the visitor here."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation
