"""What the app takes from Streamlit's inside is still there; the tests of uploads and tables say that it works."""

import asyncio
from importlib import import_module
from unittest.mock import Mock

import pytest

PARTS = {
    "streamlit:_main": "is the body of a page",
    "streamlit.elements.widgets.data_editor:DataEditorSerde.deserialize": "reads what people type into a table",
    "streamlit.runtime.uploaded_file_manager:UploadedFile.__init__": "is a file in a script's hand",
    "streamlit.runtime.memory_uploaded_file_manager:MemoryUploadedFileManager.remove_file": "forgets a file",
    "streamlit.runtime:Runtime.get_app_session": "finds a visitor's page",
    "streamlit.runtime:Runtime.close_session": "ends the session of a visitor who has gone",
    "streamlit.runtime.app_session:AppSession.request_rerun": "runs a visitor's page again",
    "streamlit.runtime:Runtime.connect_session": "lets the server's own visitor in",
    "streamlit.runtime:Runtime.handle_backmsg": "runs a page for the server's own visitor",
    "streamlit.runtime.app_session:AppSession.flush_browser_queue": "hands over what a run has said",
    "streamlit.runtime:Runtime._send_message": "sends a browser a message",
    "streamlit.runtime.websocket_session_manager:WebsocketSessionManager.get_active_session_info": "finds a browser",
    "streamlit.runtime.pages_manager:PagesManager.uses_pages_directory": "makes a navigation of pages/",
    "streamlit.runtime.scriptrunner:StopException": "ends a run early",
    "streamlit.runtime.scriptrunner_utils.script_run_context:ScriptRunContext.reset": "begins a run",
}


@pytest.mark.parametrize("place", PARTS)
def test_it_is_there(place):
    module, _, names = place.partition(":")
    words = f"Streamlit no longer has {place}, which {PARTS[place]}: ui/inside_streamlit.py needs it another way."
    try:
        part = import_module(module)
    except ImportError:
        pytest.fail(words)
    for name in names.split("."):
        assert hasattr(part, name), words
        part = getattr(part, name)


def test_uploads_are_kept_by_session_and_file():
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

    words = "Streamlit keeps uploads in another place: ui/inside_streamlit.py sums them up in file_storage."
    assert getattr(MemoryUploadedFileManager(""), "file_storage", None) == {}, words


def test_a_table_and_an_uploader_use_what_was_put_in_their_place():
    from streamlit.elements.widgets import data_editor, file_uploader

    import ui.inside_streamlit as inside

    words = "Streamlit's {} uses another class: ui/inside_streamlit.py puts its bounds into this one."
    assert data_editor.DataEditorSerde.deserialize is inside._read_bounded_edits, words.format("table")
    assert file_uploader.UploadedFile.__init__ is inside._open_counted, words.format("uploader")


def test_the_servers_own_visitor_is_asked_what_any_browser_is():
    from streamlit.runtime import SessionClient

    import ui.inside_streamlit as inside

    words = "Streamlit asks a browser for more than it did: FirstVisitor of ui/inside_streamlit.py needs it, too."
    asked = [name for name in vars(SessionClient) if not name.startswith("_")]
    assert "client_context" in asked, words
    assert [name for name in asked if not hasattr(inside.FirstVisitor, name)] == [], words
    assert not inside.FirstVisitor.__abstractmethods__, words


@pytest.fixture
def visitor(monkeypatch):
    """A session whose script runs and has said 150 things, and what its browser has been sent."""
    import ui.inside_streamlit as inside

    sent, session = [], Mock(id="one", _state=inside.AppSessionState.APP_IS_RUNNING, said=list(range(150)))
    session._message_enqueued_callback = lambda: sent.append("asked again")
    server = Mock(_send_message=lambda _browser, message: sent.append(message))
    monkeypatch.setattr(inside.runtime, "get_instance", lambda: server)
    monkeypatch.setattr(inside, "_flush", lambda session: [session.said.pop(0) for _ in list(session.said)])
    return session, sent


async def test_a_short_run_is_sent_as_a_whole_when_it_is_over_and_a_long_one_meanwhile(visitor):
    import ui.inside_streamlit as inside

    session, sent = visitor
    assert inside._flush_together(session) == []
    assert sent == []
    session._state = inside.AppSessionState.APP_NOT_RUNNING
    assert inside._flush_together(session) == list(range(inside.MOST_AT_ONCE, 150))
    assert sent == list(range(inside.MOST_AT_ONCE))
    session._state, session.said = inside.AppSessionState.APP_IS_RUNNING, ["late"]
    assert inside._flush_together(session) == []
    await asyncio.sleep(1.5 * inside.MOST_HELD)
    assert sent[-1] == "asked again"
    assert inside._flush_together(session) == []
    assert sent[-1] == "late"
