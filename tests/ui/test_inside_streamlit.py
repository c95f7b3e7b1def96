"""What the app takes from Streamlit's inside is still there; the tests of uploads and tables say that it works."""

import re
from importlib import import_module

import pytest

PARTS = {
    "streamlit.elements.widgets.data_editor:DataEditorSerde.deserialize": "reads what people type into a table",
    "streamlit.runtime.uploaded_file_manager:UploadedFile.__init__": "is a file in a script's hand",
    "streamlit.runtime.memory_uploaded_file_manager:MemoryUploadedFileManager.remove_file": "forgets a file",
    "streamlit.runtime.session_manager:SessionManager.get_active_session_info": "finds a visitor's page",
    "streamlit.runtime:Runtime.close_session": "ends the session of a visitor who has gone",
    "streamlit.runtime.app_session:AppSession.request_rerun": "runs a visitor's page again",
    "streamlit.runtime:Runtime.connect_session": "lets the server's own visitor in",
    "streamlit.runtime:Runtime.handle_backmsg": "runs a page for the server's own visitor",
    "streamlit.runtime.pages_manager:PagesManager.uses_pages_directory": "makes a navigation of pages/",
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


def test_what_the_app_puts_into_streamlit_s_place_is_used_and_asked_as_before():
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

    words = "Streamlit keeps uploads in another place: ui/inside_streamlit.py sums them up in file_storage."
    assert getattr(MemoryUploadedFileManager(""), "file_storage", None) == {}, words
    from streamlit.elements.widgets import data_editor, file_uploader

    import ui.inside_streamlit as inside

    words = "Streamlit's {} uses another class: ui/inside_streamlit.py puts its bounds into this one."
    assert data_editor.DataEditorSerde.deserialize is inside._read_bounded_edits, words.format("table")
    assert file_uploader.UploadedFile.__init__ is inside._open_and_note, words.format("uploader")
    from streamlit.runtime import SessionClient

    import ui.inside_streamlit as inside

    words = "Streamlit asks a browser for more than it did: FirstVisitor of ui/inside_streamlit.py needs it, too."
    asked = [name for name in vars(SessionClient) if not name.startswith("_")]
    assert "client_context" in asked, words
    assert [name for name in asked if not hasattr(inside.FirstVisitor, name)] == [], words
    assert not inside.FirstVisitor.__abstractmethods__, words


def test_each_part_keeps_a_promise_of_the_page_on_security(root):
    promises = re.findall(r'(?:# |Keeps? )"([^"]+)"', (root / "ui/inside_streamlit.py").read_text())
    page = " ".join((root / "SECURITY.md").read_text().replace("`", "").split())
    assert len(promises) == 7
    assert [promise for promise in promises if promise not in page] == []
