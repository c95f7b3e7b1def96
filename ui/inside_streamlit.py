"""The app's uses of Streamlit's private parts, each with its promise of SECURITY.md and why no public API keeps it."""

import asyncio
import time
import weakref
from contextlib import suppress
from functools import wraps
from inspect import unwrap
from typing import Any, cast

from streamlit import runtime
from streamlit.elements.widgets.data_editor import DataEditorSerde, DataEditorState
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import StopException as StopException
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.bounds.limits import JSON_BYTES

_REFUSALS: dict[str, str] = {}  # by session, what was refused and is still to be shown
_OPEN: dict[int, tuple[int, int]] = {}  # each uploaded file that a script has in hand: which bytes are its, how many
_GONE: weakref.WeakKeyDictionary[AppSession, dict[str, Any]] = weakref.WeakKeyDictionary()  # at the last look
_read_edits, _open_file = unwrap(DataEditorSerde.deserialize), unwrap(UploadedFile.__init__)


# "No message adds rows to a table or takes any away": num_rows="fixed" binds the browser alone, on_change comes later.
@wraps(_read_edits)
def _read_bounded_edits(self: Any, ui_value: str | None) -> DataEditorState:
    is_small = ui_value is None or len(ui_value) <= JSON_BYTES.maximum
    state = _read_edits(self, ui_value if is_small else None)
    if not is_small or state["added_rows"]:
        excess = f"{len(state['added_rows']):,} new rows" if is_small else f"Texts larger than {JSON_BYTES.millions} MB"
        _REFUSALS[running_session()] = f"{excess} came into the table; they were left out."
    state["added_rows"].clear()
    state["deleted_rows"].clear()
    return state


# "It sums the files of the sessions, those deleted that a page still has open": max_upload_size binds the browser
# alone, server.maxUploadSize each file alone, and nothing public tells what is held.
@wraps(_open_file)
def _open_and_note(self: UploadedFile, record: Any, file_urls: Any) -> None:
    _open_file(self, record, file_urls)
    _OPEN[id(self)] = id(record.data), len(record.data)
    weakref.finalize(self, _OPEN.pop, id(self), None).atexit = False


DataEditorSerde.deserialize = _read_bounded_edits  # type: ignore[method-assign]
UploadedFile.__init__ = _open_and_note  # type: ignore[method-assign]


def files_of(session: str = "") -> list[int]:
    """Return the sizes of a session's uploaded files, bytes; "" = of all, and of deleted ones that a script has."""
    storage = cast(Any, runtime.get_instance()).uploaded_file_mgr.file_storage
    sessions = [storage.get(session, {})] if session else list(storage.values())
    stored = {id(file.data): len(file.data) for files in sessions for file in list(files.values())}
    return list((stored if session else stored | dict(list(_OPEN.values()))).values())


def free_uploads(session: str) -> None:
    """Free a session's files that no script uses, and all sessions whose browser has gone."""
    server, in_hand = cast(Any, runtime.get_instance()), {data for data, _ in list(_OPEN.values())}
    uploads = server.uploaded_file_mgr
    for file in list(uploads.file_storage.get(session, {}).values()):
        if id(file.data) not in in_hand:
            uploads.remove_file(session, file.file_id)
    for stale in [session_id for session_id in list(uploads.file_storage) if not server.is_active_session(session_id)]:
        server.close_session(stale)
        uploads.remove_session_files(stale)


def refuse(session: str, reason: str) -> None:
    """Tell a session that something was refused: its page runs again and says so."""
    browser = runtime.get_instance()._session_mgr.get_active_session_info(session)
    if browser is not None and session not in _REFUSALS:
        _REFUSALS[session] = reason
        browser.session.request_rerun(browser.session._client_state)


def refusal() -> str | None:
    """Return, once, why something was refused to the running session; None = nothing was."""
    return _REFUSALS.pop(running_session(), None)


def running_session() -> str:
    """Return the session that runs in this thread, as uploads name it; "" = none. st.context does not tell it."""
    return getattr(get_script_run_ctx(suppress_warning=True), "session_id", "")


def came_by_history() -> bool:
    """Return whether the browser's Back or Forward brought the visitor here. st.context does not tell it."""
    return getattr(get_script_run_ctx(), "is_history_navigation", False)


# "Nothing is dropped but clear_cache": Streamlit takes it from anybody.
def is_clear_cache(content: bytes) -> bool:
    """Return whether a browser's message asks that the caches of all visitors be emptied."""
    with suppress(Exception):  # Streamlit's own code answers what is damaged
        return BackMsg.FromString(content).WhichOneof("type") == "clear_cache"
    return False


def keep_downloads(seconds: float, files: Any = None) -> None:
    """Keep "a file for a download stays for a minute": Streamlit has no setting, and it goes after any two runs."""
    files = files or runtime.get_instance().media_file_mgr
    delete, orphaned = files._delete_file, weakref.WeakKeyDictionary[object, float]()

    def delete_later(file_id: str) -> None:
        present = time.monotonic()
        if present - orphaned.setdefault(files._file_metadata[file_id], present) >= seconds:
            delete(file_id)

    files._delete_file = delete_later


def forget_widgets(session: AppSession) -> None:
    """Forget widgets that are neither here now nor were at the last look; who is slow may still have pressed one."""
    state = session.session_state
    metadata = state._new_widget_state.widget_metadata
    present = {*state._new_widget_state.states, *state._old_state}
    gone = {name: widget for name, widget in list(metadata.items()) if name not in present}
    for name in [name for name, widget in _GONE.get(session, {}).items() if gone.get(name) is widget]:
        metadata.pop(name, gone.pop(name))
    _GONE[session] = gone


def forget_visitors(sessions: Any = None) -> None:
    """Keep "who is away for two minutes is forgotten, and so are widgets that are gone"; the setting acts too late."""
    sessions = sessions or runtime.get_instance()._session_mgr
    sessions._session_storage._cache.expire()
    for info in sessions.list_sessions():
        forget_widgets(info.session)


def show_our_navigation() -> None:
    """Keep "the first link, too, leads through app.py"; the public way is another name for the folder pages/."""
    PagesManager.uses_pages_directory = False


class FirstVisitor(runtime.SessionClient):
    """Keeps "memory is level": Streamlit runs no page without a browser, and forgets scripts when the last leaves."""

    def __init__(self) -> None:
        self._finished = asyncio.Event()
        self._session = runtime.get_instance().connect_session(self, {})

    def write_forward_msg(self, msg: ForwardMsg) -> None:
        if msg.WhichOneof("type") == "script_finished" and msg.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self._finished.set()

    async def visit(self, page: str) -> None:
        """Run a page, named as in its address."""
        self._finished.clear()
        request = BackMsg(rerun_script={"page_name": page})  # type: ignore[arg-type]
        runtime.get_instance().handle_backmsg(self._session, request)
        await self._finished.wait()
