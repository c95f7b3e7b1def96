"""The pages, their order and their addresses. A page that is not built yet is not listed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class PageEntry:
    """One page.

    Attributes:
        group: heading in the sidebar; "" = none.
        file: below pages/.
        title: in the sidebar and on the page's card.
        url_path: differs from the file's name, or Streamlit would run the file without app.py on a cold deep link.
        question: the one that the page answers.
    """

    group: str
    file: str
    title: str
    url_path: str
    question: str


PAGES = (
    PageEntry("", "start.py", "Start", "welcome", "What is attention, in one live example, and where do I go?"),
    PageEntry("Pictures", "pixels.py", "Draw a digit", "draw-a-digit", "Which pixels matter to which?"),
)


def path_of(entry: PageEntry) -> str:
    """Return the page's file as Streamlit wants it, relative to app.py."""
    return f"pages/{entry.file}"


def navigation():
    """Return the page to run, after declaring all of them."""
    groups: dict[str, list] = {}
    for entry in PAGES:
        page = st.Page(path_of(entry), title=entry.title, url_path=entry.url_path, default=entry.file == "start.py")
        groups.setdefault(entry.group, []).append(page)
    return st.navigation(groups)
