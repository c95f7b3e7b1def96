"""The pages, their order and their addresses. A page that is not built yet is not listed."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st


@dataclass(frozen=True)
class PageEntry:
    """One page.

    Attributes:
        group: heading in the sidebar; "" = none.
        file: below pages/.
        title: in the sidebar and on the page's card.
        question: the one that the page answers.
    """

    group: str
    file: str
    title: str
    question: str

    @property
    def url_path(self) -> str:
        """Its address: the file's name without .py (see through_app); Start, which also has the bare one, "welcome"."""
        return "welcome" if self.file == "start.py" else self.file.removesuffix(".py")


PAGES = (
    PageEntry("", "start.py", "Start", "What is attention, in one live example, and where do I go?"),
    PageEntry("Idea", "lookup.py", "Look up softly", "What if a dictionary could almost match?"),
    PageEntry("Idea", "vectors.py", "Three vectors, nine pairs", "How do inputs interact, and what do Q, K, V add?"),
    PageEntry(
        "Idea",
        "scoring.py",
        "What a score measures",
        "Eight ways to compare a query with a key: what does each one reward?",
    ),
    PageEntry("Words", "memory.py", "What a recurrent network forgets", "Why was attention needed?"),
    PageEntry("Words", "matter.py", "Which words matter", "Which words of a sentence decide a judgement?"),
    PageEntry("Words", "translate.py", "Translate and align", "What does a decoder look at, word by word?"),
    PageEntry("Words", "transformer.py", "Inside a transformer", "What is left when the recurrence goes?"),
    PageEntry("Pictures", "pixels.py", "Draw a digit", "Which pixels matter to which?"),
    PageEntry("Pictures", "find.py", "Find the digit", "Where does a network look in clutter?"),
    PageEntry("Pictures", "read.py", "Read a number", "How does attention move from step to step?"),
    PageEntry("Pictures", "ask.py", "Ask about a drawing", "How does a question choose where to look?"),
    PageEntry("Further", "groups.py", "Beyond pairs", "Why only pairs, and what can three do?"),
    PageEntry("Further", "model.py", "Your own model", "What do the heads of any transformer, yours too, look at?"),
    PageEntry(
        "Further", "atlas.py", "The atlas", "What does attention look like when there are a hundred thousand tokens?"
    ),
)


def path_of(entry: PageEntry) -> str:
    """Return the page's file as Streamlit wants it, relative to app.py."""
    return f"pages/{entry.file}"


def through_app() -> None:
    """Begin again with app.py when Streamlit ran a page's file alone; pages call this first.

    A server that has run app.py for nobody yet takes pages/ for its list of pages: a bookmark then runs the page's
    file without app.py (and an address that is no file's name brings up "Page not found"). Declaring the pages turns
    that off for the whole server.
    """
    if not st.session_state.get("came_through_app"):
        navigation()
        st.rerun()


def navigation():
    """Return the page to run, after declaring all of them."""
    groups: dict[str, list] = {}
    for entry in PAGES:
        page = st.Page(path_of(entry), title=entry.title, url_path=entry.url_path, default=entry.file == "start.py")
        groups.setdefault(entry.group, []).append(page)
    return st.navigation(groups, expanded=True)
