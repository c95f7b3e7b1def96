"""A server stays tidy: what visitors leave behind goes; what was made for a download waits for the browser first."""

from types import SimpleNamespace

import pytest
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.state.session_state import SessionState
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.testing.v1 import AppTest

from ui.inside_streamlit import forget_visitors, forget_widgets, keep_downloads

MOVED = "Streamlit has moved what ui/inside_streamlit.py reaches for, so that a server keeps what visitors left: "


def made(seconds: float) -> tuple[MediaFileManager, str]:
    """A file that was asked for, after the ends of three runs of other visitors."""
    files = MediaFileManager(MemoryMediaFileStorage("/media"))
    keep_downloads(seconds, files)
    url = files.execute_deferred(files.add_deferred(lambda: b"numbers", "text/plain", "there", file_name="numbers.txt"))
    for _ in range(3):
        files.remove_orphaned_files()
    return files, url.rsplit("/", 1)[1].split(".")[0]


@pytest.mark.parametrize("seconds", [60, 0])
def test_download_outlasts_the_runs_of_others_and_goes_when_the_time_is_over(seconds):
    files, name = made(seconds)
    file = files.read_file(name)
    assert file.content == b"numbers" if seconds else file is None


def test_private_parts_of_streamlit_are_where_they_were():
    assert "_session_mgr" in Runtime.__init__.__code__.co_names, f"{MOVED}Runtime._session_mgr"
    names = WebsocketSessionManager.__init__.__code__.co_names
    assert "_session_storage" in names, f"{MOVED}WebsocketSessionManager._session_storage"
    assert hasattr(WebsocketSessionManager, "list_sessions"), f"{MOVED}WebsocketSessionManager.list_sessions"
    assert hasattr(AppSession, "session_state"), f"{MOVED}AppSession.session_state"


def test_visitors_are_forgotten_when_their_time_is_over():
    storage = MemorySessionStorage(ttl_seconds=0)
    storage.save(SimpleNamespace(session=SimpleNamespace(id="one")))
    assert storage._cache._data, f"{MOVED}MemorySessionStorage._cache"
    forget_visitors(SimpleNamespace(_session_storage=storage, list_sessions=list))
    assert not storage._cache._data


def test_widgets_are_forgotten_at_the_second_look():
    def page():
        import streamlit as st

        def press() -> None:
            st.session_state.pressed = st.session_state.get("pressed", 0) + 1

        if st.toggle("More", key="more"):
            st.button("Then", key="then", on_click=press)

    class Visitor:
        session_state = None

    app, visitor = AppTest.from_function(page, default_timeout=60).run(), Visitor()
    visitor.session_state = app.session_state
    while not isinstance(visitor.session_state, SessionState):
        visitor.session_state = visitor.session_state._state

    def known() -> list[str]:
        return sorted(name.rsplit("-", 1)[-1] for name in visitor.session_state._new_widget_state.widget_metadata)

    for _ in range(2):
        app.toggle[0].set_value(True).run().button[0].click().run()
        forget_widgets(visitor)
        forget_widgets(visitor)
        assert known() == ["more", "then"], f"{MOVED}widgets that are there are forgotten"
        app.toggle[0].set_value(False).run()
        forget_widgets(visitor)
        assert known() == ["more", "then"]
        forget_widgets(visitor)
        assert known() == ["more"]
    assert app.session_state.pressed == 2
