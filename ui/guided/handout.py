"""What a hall takes home of a lecture: a page to print, with pictures, what was asked, and links."""

import base64
import re
from html import escape
from urllib.parse import urlencode

from attention_core.data.lecture import GuidedLecture, LectureItem
from attention_core.files import find_file
from ui.navigation import entry_of

STYLE = """
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.45 system-ui, sans-serif; color: #14191f; }
section { display: grid; grid-template-columns: 13rem 1fr; gap: 0 1.5rem; padding: 1rem 0; break-inside: avoid; }
section { border-top: 1px solid #c9d0d8; } img { grid-row: span 4; width: 100%; border: 1px solid #c9d0d8; }
h2, p { margin: 0 0 0.4rem; grid-column: 2; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; } a { color: #005b8f; }
@media (max-width: 30rem) { section { display: block; } }
@media print { body { margin: 0; max-width: none; font-size: 10pt; } }
"""


def handout(lecture: GuidedLecture, root: str) -> str:
    """Return a lecture's handout as HTML, which needs no other file.

    Args:
        lecture: of which.
        root: the app's address, with which links begin.
    """
    items = "".join(_item(item, root.rstrip("/")) for item in lecture.items)
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>{STYLE}</style>'
    title = f"<title>{escape(lecture.title)}</title>"
    about = f"<p>{_html(lecture.about)}</p>"
    return f'<!doctype html><html lang="en">{head}{title}<h1>{escape(lecture.title)}</h1>{about}{items}</html>'


def _item(item: LectureItem, root: str) -> str:
    entry, query = entry_of(item.page), urlencode(item.state)
    link = escape(f"{root}/{entry.url_path}{'?' if query else ''}{query}")
    card = find_file(f"ui/assets/start/{item.page}-light.webp").read_bytes()
    picture = f'<img alt="" src="data:image/webp;base64,{base64.b64encode(card).decode()}">'
    answers = (f"<b>{_html(one)} ✓</b>" if n == item.right else _html(one) for n, one in enumerate(item.answers))
    asked = f"<p>{_html(item.question)} {' · '.join(answers)}</p>" if item.question else ""
    return (
        f"<section>{picture}<h2>{_html(item.sentence)}</h2>{asked}"
        f'<p>Open it: <a href="{link}">{escape(entry.title)}</a></p></section>'
    )


def _html(text: str) -> str:
    return re.sub(r"\*(.+?)\*", r"<em>\1</em>", escape(text)).replace("\n", "<br>")
