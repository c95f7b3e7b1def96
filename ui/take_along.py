"""What can be taken along from a page, one menu at its foot: numbers, pictures, its link or session file."""

from collections.abc import Callable

import streamlit as st

from attention_core.links import read_session, write_session
from ui.chart import save_pictures
from ui.component import component
from ui.navigation import PAGES, PageEntry, entry_of, path_of
from ui.old_addresses import moved_address
from ui.state import ADDRESS_TEXTS, APP, LEFT_OUT, OPENED_SESSION, Field, set_widget, widget_value

NOTATIONS = "notations"  # the question of *Three vectors* that says how others write what the pages show
OPEN_MENU = "take_along"  # the key of the menu, true while it is open
OPENS_MENU = Field(APP, "opens_menu", False, address="menu", text=lambda _: "")
"""Whether an old address opens the menu."""
EXPORT = Field[Callable[[], object] | None](APP, "export", None)
"""Draws what the page has of its own to export; None = nothing."""
N_UPLOADS = Field(APP, "session_uploads", 0)
REFUSED, PAGE_OF_SESSION = Field(APP, "session_refused", ""), Field(APP, "session_page", "")
_share = component("share")


def take_along(export: Callable[[], object]) -> None:
    """Let the menu at the page's foot offer what `export` draws; it is called only while the menu is open."""
    EXPORT.value = export


@st.fragment
def take_along_menu(entry: PageEntry) -> None:
    """Draw the menu; nothing in it is computed while it is closed."""
    if OPENED_SESSION.value is not None:
        st.rerun()  # the whole page, which follows it
    if OPENS_MENU.value:
        OPENS_MENU.value = False
        set_widget(OPEN_MENU, True)
    menu = st.popover("Take it along", icon=":material/ios_share:", key=OPEN_MENU, on_change="rerun", width="content")
    if not menu.open:
        return
    with menu:
        _share(key="share", data={"without": LEFT_OUT})
        if EXPORT.value:
            EXPORT.value()
        save_pictures(entry.name)
        _session_file(entry)
        notations = {"question": NOTATIONS}
        st.page_link(path_of(entry_of("vectors")), label="Other notations", query_params=notations)


def _session_file(entry: PageEntry) -> None:
    values = ADDRESS_TEXTS.value
    st.download_button(
        "Save session",
        lambda: write_session(entry.name, values),
        f"{entry.name}-session.json",
        "application/json",
        on_click="ignore",
        key="session_save",
    )
    key = f"session_upload_{N_UPLOADS.value}"
    st.file_uploader("Open session", "json", key=key, max_upload_size=1, on_change=_open, args=(key,))
    if REFUSED.value:
        st.error(f"{REFUSED.value} The page is as it was.", icon=":material/error:")


def go_to_session(entry: PageEntry) -> None:
    """Bring a visitor who has opened a session to its page."""
    name, PAGE_OF_SESSION.value = PAGE_OF_SESSION.value, ""
    if name and name != entry.name:
        st.switch_page(path_of(entry_of(name)))


def _open(key: str) -> None:
    """Take an uploaded session, or say why not; runs before the page does."""
    upload = widget_value(key)
    if upload is None:
        return
    try:
        page, values = moved_address(*read_session(upload.getvalue()))
        if page not in {entry.name for entry in PAGES}:
            raise ValueError("This session is of a page that is not here.")
        PAGE_OF_SESSION.value, OPENED_SESSION.value, REFUSED.value = page, values, ""
        set_widget(OPEN_MENU, False)
    except ValueError as error:
        REFUSED.value = str(error)
    N_UPLOADS.value += 1  # empties the place
