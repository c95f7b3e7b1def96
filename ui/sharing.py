"""How a visitor keeps or hands on what the page shows: its link, or a session's file that has no bounds of a link."""

import streamlit as st

from attention_core.packed import read_session, write_session
from ui.address import OPENED, TOLD, WITHOUT
from ui.component import component
from ui.navigation import PAGES, PageEntry, path_of
from ui.state import APP, Field, widget_value

N_UPLOADS = Field(APP, "session_uploads", 0)
REFUSED, PAGE_OF_SESSION = Field(APP, "session_refused", ""), Field(APP, "session_page", "")
_share = component("share")


def sharing(entry: PageEntry) -> None:
    """Draw the button that copies the page's link, and the session's file to save and to open."""
    values = TOLD.value
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content", key="sharing"):
        _share(key="share", data={"without": WITHOUT}, width="content")
        with st.popover("Session file", icon=":material/save:"):
            st.caption("All that the page shows, whatever its length: for what is too long for a link.")
            st.download_button(
                "Save the session",
                lambda: write_session(entry.name, values),
                f"{entry.name}-session.json",
                "application/json",
                on_click="ignore",
                key="session_save",
            )
            key = f"session_upload_{N_UPLOADS.value}"
            st.file_uploader("Open a session", "json", key=key, max_upload_size=1, on_change=_open, args=(key,))
            if REFUSED.value:
                st.error(f"{REFUSED.value} The page is as it was.", icon=":material/error:")


def go_to_session(entry: PageEntry) -> None:
    """Bring a visitor who has opened a session to its page."""
    wanted, PAGE_OF_SESSION.value = PAGE_OF_SESSION.value, ""
    if wanted and wanted != entry.name:
        st.switch_page(next(path_of(other) for other in PAGES if other.name == wanted))


def _open(key: str) -> None:
    """Take an uploaded session, or say why not; runs before the page does."""
    upload = widget_value(key)
    if upload is None:
        return
    try:
        page, values = read_session(upload.getvalue())
        if page not in {entry.name for entry in PAGES}:
            raise ValueError("This session is of a page that is not here.")
        PAGE_OF_SESSION.value, OPENED.value, REFUSED.value = page, values, ""
    except ValueError as error:
        REFUSED.value = str(error)
    N_UPLOADS.value += 1  # empties the place
