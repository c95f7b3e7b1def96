"""What the app needs of Streamlit's inside; tests/test_inside_streamlit.py says what an upgrade has moved."""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import unwrap
from typing import Any

from streamlit import runtime
from streamlit.elements.widgets.data_editor import DataEditorSerde, DataEditorState
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.bounds import JSON_BYTES, TABLE_ROWS

_MOST_ADDED: ContextVar[int] = ContextVar("most_added", default=0)
_REFUSALS: dict[str, str] = {}
"""What has been refused to a session and not been told yet."""
_OPEN: dict[int, tuple[int, int]] = {}
"""Each uploaded file that a script has in hand: which bytes are its, and how many."""
_read_edits, _open_file = unwrap(DataEditorSerde.deserialize), unwrap(UploadedFile.__init__)


@contextmanager
def growing_table() -> Iterator[None]:
    """Let people add rows to the table that is drawn; to others no message of a browser adds any."""
    token = _MOST_ADDED.set(TABLE_ROWS.most + 1)  # one too many, so that the page sees that there were more
    try:
        yield
    finally:
        _MOST_ADDED.reset(token)


def _begin_edits(self: Any) -> None:
    self.most_added = _MOST_ADDED.get()


@wraps(_read_edits)
def _read_bounded_edits(self: Any, ui_value: str | None) -> DataEditorState:
    if ui_value is not None and len(ui_value) > JSON_BYTES.most:
        _refuse_here(f"What was put into the table is larger than {JSON_BYTES.millions} MB; it was left out.")
        ui_value = None
    state = _read_edits(self, ui_value)
    n_added = len(state["added_rows"])
    if n_added > self.most_added:
        del state["added_rows"][self.most_added :]
        _refuse_here(f"{n_added:,} new rows came into the table; the first {max(0, self.most_added - 1)} were read.")
    if not self.most_added:
        state["deleted_rows"].clear()
    return state


@wraps(_open_file)
def _open_counted(self: UploadedFile, record: Any, file_urls: Any) -> None:
    _open_file(self, record, file_urls)
    _OPEN[id(self)] = id(record.data), len(record.data)
    weakref.finalize(self, _OPEN.pop, id(self), None).atexit = False


DataEditorSerde.__init__ = _begin_edits  # type: ignore[method-assign]
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
    context = get_script_run_ctx()
    if context is not None:
        _REFUSALS[context.session_id] = words


def refusal() -> str | None:
    """Return what has been refused to the session that runs and not been told, once."""
    context = get_script_run_ctx()
    return _REFUSALS.pop(context.session_id, None) if context else None
