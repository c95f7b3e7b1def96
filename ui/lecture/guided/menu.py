"""The menu on Start that begins a lecture, downloads its handout, and takes the lecturer's own file."""

import base64
import os
import re
from html import escape
from urllib.parse import urlencode

import streamlit as st

from attention_core.data.lecture import GuidedLecture, LectureItem
from attention_core.files import find_file
from ui.labels import error_markdown
from ui.lecture.guided.items import BUNDLED, UPLOADED, UPLOADED_TEXT, begin, lecture_text, parsed_lecture
from ui.lecture.hall.routes import URL, opened_at
from ui.navigation import entry_of
from ui.state import APP, OPENED_SESSION, Field, set_widget, widget_value

STYLE = """
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.45 system-ui, sans-serif; color: #14191f; }
section { display: grid; grid-template-columns: 13rem 1fr; gap: 0 1.5rem; padding: 1rem 0; break-inside: avoid; }
section { border-top: 1px solid #c9d0d8; } img { grid-row: span 4; width: 100%; border: 1px solid #c9d0d8; }
h2, p { margin: 0 0 0.4rem; grid-column: 2; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; } a { color: #005b8f; }
@media (max-width: 30rem) { section { display: block; } }
@media print { body { margin: 0; max-width: none; font-size: 10pt; } }
"""


def handout(lecture: GuidedLecture, root: str) -> str:
    """Return a lecture's handout as HTML, which needs no other file; its links begin with `root`, the app's address."""
    items = "".join(_item(item, root.rstrip("/")) for item in lecture.items)
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>{STYLE}</style>'
    title = f"<title>{escape(lecture.title)}</title>"
    introduction = f"<p>{_html(lecture.introduction)}</p>"
    return f'<!doctype html><html lang="en">{head}{title}<h1>{escape(lecture.title)}</h1>{introduction}{items}</html>'


def _item(item: LectureItem, root: str) -> str:
    entry, query = entry_of(item.page), urlencode(item.state)
    link = escape(f"{root}/{entry.url_path}{'?' if query else ''}{query}")
    card = find_file(f"pages/{item.page}/card-light.webp")
    picture = ""
    if card.exists():
        picture = f'<img alt="" src="data:image/webp;base64,{base64.b64encode(card.read_bytes()).decode()}">'
    answers = [_html(answer) for answer in item.answers]
    answers = [f"<b>{answer} ✓</b>" if n == item.right else answer for n, answer in enumerate(answers)]
    question = f"<p>{_html(item.question)} {' · '.join(answers)}</p>" if item.question else ""
    return (
        f"<section>{picture}<h2>{_html(item.sentence)}</h2>{question}"
        f'<p>Open it: <a href="{link}">{escape(entry.title)}</a></p></section>'
    )


def _html(text: str) -> str:
    return re.sub(r"\*(.+?)\*", r"<em>\1</em>", escape(text)).replace("\n", "<br>")


REFUSED = Field(APP, "lecture_refused", "")
UPLOAD, MENU = "lecture_upload", "lectures"


@st.fragment
def lecture_menu() -> None:
    """Draw the menu; nothing in it is read while it is closed."""
    if OPENED_SESSION.value is not None:
        st.rerun()  # the whole page, which follows it
    menu = st.popover("Give a lecture", icon=":material/co_present:", key=MENU, on_change="rerun", width="content")
    if not menu.open:
        return
    with menu:
        st.markdown("*Page Down* or a presenter's remote leads through; *N* opens your notes.")
        for name in (*BUNDLED, *([UPLOADED] if UPLOADED_TEXT.value else [])):
            _offer(name)
        label = "Your own, as a text file like these"
        st.file_uploader(label, "txt", key=UPLOAD, max_upload_size=1, on_change=_on_upload)
        if REFUSED.value:
            st.error(f"{REFUSED.value} Nothing was changed.", icon=":material/error:")


def _offer(name: str) -> None:
    text = lecture_text(name)
    lecture, root = parsed_lecture(text), os.environ.get(URL) or opened_at()
    with st.container(horizontal=True):
        st.button(error_markdown(lecture.title), key=f"lecture_{name}", on_click=_begin, args=(name,), type="primary")
        for label, content, ending, mime in (
            ("Handout", lambda: handout(lecture, root), "html", "text/html"),
            ("Text file", text, "txt", "text/plain"),
        ):
            file = f"lecture-{name}.{ending}"
            st.download_button(label, content, file, mime, key=f"lecture_{name}_{ending}", on_click="ignore")


def _begin(name: str) -> None:
    set_widget(MENU, False)
    begin(name)


def _on_upload() -> None:
    """Take an uploaded lecture, or say why not; runs before the page does."""
    upload = widget_value(UPLOAD)
    if upload is None:
        return
    try:
        text = upload.getvalue().decode("utf-8-sig")
        parsed_lecture(text)
        UPLOADED_TEXT.value, REFUSED.value = text, ""
    except UnicodeDecodeError:
        REFUSED.value = "This is no text in UTF-8."
    except ValueError as error:
        REFUSED.value = error_markdown(error)
