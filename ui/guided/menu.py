"""The menu on Start from which a lecture is given, its handout taken, and a file of one's own opened."""

import os

import streamlit as st

from ui.guided.handout import handout
from ui.guided.items import BUNDLED, OWN, OWN_TEXT, begin, lecture_text, read
from ui.hall.routes import URL, opened_at
from ui.labels import error_markdown
from ui.state import APP, OPENED_SESSION, Field, set_widget, widget_value

REFUSED = Field(APP, "lecture_refused", "")
UPLOAD, MENU = "lecture_upload", "lectures"


@st.fragment
def lecture_menu() -> None:
    """Draw the menu; nothing in it is read while it is closed."""
    if OPENED_SESSION.value is not None:
        st.rerun()  # the whole page, which follows it
    menu = st.popover(
        "Give a lecture", icon=":material/co_present:", key="lectures", on_change="rerun", width="content"
    )
    if not menu.open:
        return
    with menu:
        st.markdown("*Page Down*, or a presenter's remote, leads through. *N* opens your notes in a second window.")
        for name in (*BUNDLED, *([OWN] if OWN_TEXT.value else [])):
            _offer(name)
        st.file_uploader("Your own, as a text file like these", "txt", key=UPLOAD, max_upload_size=1, on_change=_take)
        if REFUSED.value:
            st.error(f"{REFUSED.value} Nothing was changed.", icon=":material/error:")


def _offer(name: str) -> None:
    text = lecture_text(name)
    lecture, root = read(text), os.environ.get(URL) or opened_at()
    title = f"{error_markdown(lecture.title)}, {lecture.minutes:g} minutes"
    with st.container(horizontal=True):
        st.button(title, key=f"lecture_{name}", on_click=_begin, args=(name,), type="primary")
        for label, what, ending, mime in (
            ("Handout", lambda: handout(lecture, root), "html", "text/html"),
            ("Text file", text, "txt", "text/plain"),
        ):
            file = f"lecture-{name}.{ending}"
            st.download_button(label, what, file, mime, key=f"lecture_{name}_{ending}", on_click="ignore")


def _begin(name: str) -> None:
    set_widget(MENU, False)
    begin(name)


def _take() -> None:
    """Take an uploaded lecture, or say why not; runs before the page does."""
    upload = widget_value(UPLOAD)
    if upload is None:
        return
    try:
        text = upload.getvalue().decode("utf-8-sig")
        read(text)
        OWN_TEXT.value, REFUSED.value = text, ""
    except UnicodeDecodeError:
        REFUSED.value = "This is no text in UTF-8."
    except ValueError as error:
        REFUSED.value = error_markdown(error)
