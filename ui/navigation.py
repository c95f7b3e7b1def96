"""The pages, their order and their addresses; which one shows the file that the app was started with."""

import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from attention_core.files import find_file
from ui.state import APP, Field, one_of

CAME_THROUGH_APP = Field(APP, "came_through_app", False)
ICON = str(Path(__file__).with_name("icon.png"))


class PageQuestion(NamedTuple):
    """A question of a page, which an experiment answers: pages/NAME/experiments/SLUG.py, see ui.questions."""

    slug: str  # its name in the address, which never changes
    text: str
    in_lecture: bool = False  # whether a remote control leads to it; of a page at most one
    in_laboratory: bool = (
        False  # whether it stands apart, as what a lesson does not need, and is no screen of a lecture
    )


@dataclass(frozen=True)
class PageEntry:
    """One page, as its entry.toml has it."""

    name: str  # of its folder below pages/, and of its address
    group: str  # heading in the sidebar; "" = none
    position: int  # pages with a smaller one stand before it
    title: str
    question: str
    leads_on: str  # one sentence at the page's foot, before the link to the next page
    promise: str = ""  # what its picture shows on Start, Markdown; "" = it has none there
    card: Mapping[str, Any] = field(
        default_factory=dict
    )  # what of it is photographed for Start, see benchmarks/start_page.py
    questions: tuple[PageQuestion, ...] = ()
    has_numbers: bool = True  # whether it has a screen with all the numbers

    @property
    def url_path(self) -> str:
        """Its address: its name; Start has the bare one."""
        return "" if self.name == "start" else self.name

    @property
    def heading(self) -> str:
        return "Attention Explorer" if self.name == "start" else self.title

    @property
    def window_title(self) -> str:
        return self.heading if self.name == "start" else f"{self.title} · Attention Explorer"


def discover_pages() -> tuple[PageEntry, ...]:
    """Return a page for each folder of pages/ with an entry.toml, in their order."""
    files = find_file("pages").glob("*/entry.toml")
    pages = [_read_entry(file.parent.name, file.read_text(encoding="utf-8")) for file in files]
    return tuple(sorted(pages, key=lambda page: (page.position, page.name)))


def _read_entry(name: str, text: str) -> PageEntry:
    entry = tomllib.loads(text)
    questions = tuple(PageQuestion(**question) for question in entry.pop("questions", ()))
    return PageEntry(name, questions=questions, **entry)


PAGES = discover_pages()
NUMBERS = "numbers"
"""The slug of the screen with all the numbers of a page, among those of its questions."""
OPEN_QUESTION = {
    entry.name: Field(
        entry.name,
        "question",
        "",
        address="question",
        parse=one_of((NUMBERS, *(question.slug for question in entry.questions))),
    )
    for entry in PAGES
    if entry.questions
}
"""The slug of the question that is open on each page; "" = none."""


def open_question(name: str) -> PageQuestion | None:
    """Return the question that is open on a page."""
    slug = OPEN_QUESTION[name].value if name in OPEN_QUESTION else ""
    return next((question for question in entry_of(name).questions if question.slug == slug), None)


def entry_of(name: str) -> PageEntry:
    """Return the page of a name."""
    return next(entry for entry in PAGES if entry.name == name)


def path_of(entry: PageEntry) -> str:
    """Return the page's file, relative to app.py."""
    return f"pages/{entry.name}/page.py"


def through_app() -> None:
    """Begin again with app.py when Streamlit ran a page's file alone; pages call this first.

    It does so with a pages/ beside app.py until app.py has declared the pages, see ui.hosting.warm_up for servers.
    """
    if not CAME_THROUGH_APP.value:
        navigation()
        st.rerun()


def navigation():
    """Return the page to run, after declaring all of them."""
    groups: dict[str, list] = {}
    for entry in PAGES:
        page = st.Page(path_of(entry), title=entry.title, url_path=entry.url_path, default=not entry.url_path)
        groups.setdefault(entry.group, []).append(page)
    return st.navigation(groups, expanded=True)


SAW_OPENED = Field(APP, "saw_opened", False)


def opened_file() -> Path | None:
    """Return the file named behind `--` on the command line, whether it is there or not; None without."""
    if Path(sys.argv[0]).name != "app.py":  # another program runs the app, a test say, with arguments of its own
        return None
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    return Path(named[0]) if named else None


def opened_recording() -> Path | None:
    """Return the file of the command line unless it holds tensors; whether it can be read shows later."""
    file = opened_file()
    return None if file is None or _holds_tensors(file) else file


def show_opened_file(url_path: str) -> None:
    """Bring a visitor who arrives at Start to the page that shows the file of the command line, once."""
    file = opened_file()
    if file is None or SAW_OPENED.value:
        return
    SAW_OPENED.value = True
    if not url_path:
        st.switch_page(path_of(entry_of("atlas" if _holds_tensors(file) else "model")))


def _holds_tensors(file: Path) -> bool:
    from attention_core.atlas import FileKind, detect_file_kind

    try:
        return detect_file_kind(file, file.name) is FileKind.TENSORS
    except (OSError, ValueError):
        return False
