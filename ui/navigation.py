"""The pages, their order and their addresses; which one shows the file that the app was started with."""

import sys
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from ui.state import APP, OPENED_SESSION, Field

CAME_THROUGH_APP = Field(APP, "came_through_app", False)
ICON = str(Path(__file__).with_name("icon.png"))


@dataclass(frozen=True)
class PageEntry:
    """One page."""

    group: str  # heading in the sidebar; "" = none
    name: str  # of its file below pages/, of its folder below ui/, and of its address
    title: str
    question: str
    promise: str  # what surprises there, in a few words on its card, Markdown
    leads_on: str  # one sentence at the page's foot, before the link to the next page

    @property
    def url_path(self) -> str:
        """Its address: its name; Start has the bare one."""
        return "" if self.name == "start" else self.name

    @property
    def heading(self) -> str:
        return "Attention Explorer" if self.name == "start" else self.title


PAGES = (
    PageEntry(
        "",
        "start",
        "Start",
        "What is attention, in one live example, and where do I go?",
        "",
        "The idea is older than networks: it begins with looking something up.",
    ),
    PageEntry(
        "Idea",
        "lookup",
        "Look up softly",
        "What if a dictionary could almost match?",
        "*Automobile* finds *car*.",
        "Where do queries, keys and values come from, if nobody types them?",
    ),
    PageEntry(
        "Idea",
        "vectors",
        "Three vectors, nine pairs",
        "How do inputs interact, and what do Q, K, V add?",
        "Drag one input, and nine weights change.",
        "Here a dot product compared them. Other scores reward other things.",
    ),
    PageEntry(
        "Idea",
        "scoring",
        "What a score measures",
        "Eight ways to compare a query with a key: what does each one reward?",
        "Two scores disagree about the best key.",
        "Why did anybody need it? See how a network without it forgets.",
    ),
    PageEntry(
        "Words",
        "memory",
        "What a recurrent network forgets",
        "Why was attention needed?",
        "“My aunt bought a red car” becomes “My car bought a red newspaper”.",
        "With attention, one learned question picks the words that count.",
    ),
    PageEntry(
        "Words",
        "matter",
        "Which words matter",
        "Which words of a sentence decide a judgement?",
        "The word with the most attention is not the one that decides.",
        "A translator asks anew at every word.",
    ),
    PageEntry(
        "Words",
        "translate",
        "Translate and align",
        "What does a decoder look at, word by word?",
        "Without attention, the red car loses its red.",
        "These translators still read word after word. Take that away, and a transformer is left.",
    ),
    PageEntry(
        "Words",
        "transformer",
        "Inside a transformer",
        "What remains when the recurrent network is removed?",
        "Shuffle the words: nothing changes, until places are added.",
        "Attention does not need words: the 784 pixels of a drawing ask one another.",
    ),
    PageEntry(
        "Pictures",
        "pixels",
        "Draw a digit",
        "Which pixels does a pixel take from?",
        "What you draw becomes the map.",
        "In a picture full of clutter, one question can find the digit.",
    ),
    PageEntry(
        "Pictures",
        "find",
        "Find the digit",
        "Where does a network look in clutter?",
        "Where is the digit? The weights show it.",
        "To read a whole number, the attention has to move.",
    ),
    PageEntry(
        "Pictures",
        "read",
        "Read a number",
        "How does attention move from step to step?",
        "The gaze moves from digit to digit.",
        "Now a question in words chooses where to look.",
    ),
    PageEntry(
        "Pictures",
        "ask",
        "Ask about a drawing",
        "How does a question choose where to look?",
        "To answer “left of the blue one”, it looks twice.",
        "What if one could ask two others at a time?",
    ),
    PageEntry(
        "Further",
        "groups",
        "Beyond pairs",
        "Why only pairs, and what can three do?",
        "A lock that opens only when two turn their keys together.",
        "These networks had been trained before you came. Train one yourself.",
    ),
    PageEntry(
        "Further",
        "train",
        "Train it yourself",
        "How does a network find out where to look?",
        "In about 45 seconds it learns where to look, on your own digit.",
        "Now look into the heads of other people's models.",
    ),
    PageEntry(
        "Further",
        "model",
        "Your own model",
        "What do the heads of any transformer, yours too, look at?",
        "*it* looks at *animal*: which head does that?",
        "When the text is as long as a book, its attention becomes a map.",
    ),
    PageEntry(
        "Further",
        "atlas",
        "The atlas",
        "What does attention look like over two thousand sentences?",
        "Thousands of sentences on one map. Fly in.",
        "This is the last page. Start has the whole path.",
    ),
)


def entry_of(name: str) -> PageEntry:
    """Return the page of a name."""
    return next(entry for entry in PAGES if entry.name == name)


def path_of(entry: PageEntry) -> str:
    """Return the page's file as Streamlit wants it, relative to app.py."""
    return f"pages/{entry.name}.py"


def through_app() -> None:
    """Begin again with app.py when Streamlit ran a page's file alone; pages call this first.

    It does so with a pages/ beside app.py until app.py has declared the pages, see ui.warm_up for servers.
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


def run_page(page: st.Page) -> None:
    """Run a page, which Streamlit allows once, as often as something in it is clicked."""
    if OPENED_SESSION.value is not None:
        st.rerun()  # all, which follows it
    page._can_be_called = True
    page.run()


SAW_OPENED = Field(APP, "saw_opened", False)


def opened_file() -> Path | None:
    """Return the file named behind `--` on the command line, whether it is there or not; None without."""
    if Path(sys.argv[0]).name != "app.py":  # another program runs the app, a test say, with arguments of its own
        return None
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    return Path(named[0]) if named else None


def opened_recording() -> Path | None:
    """Return the file of the command line unless it holds tensors; what is wrong with it shows when it is read."""
    file = opened_file()
    return None if file is None or _holds_tensors(file) else file


def show_opened_file(url_path: str) -> None:
    """Bring a visitor who has just arrived at the start page, whose url_path is "", to the page of the opened file."""
    file = opened_file()
    if file is None or SAW_OPENED.value:
        return
    SAW_OPENED.value = True
    if not url_path:
        st.switch_page(path_of(entry_of("atlas" if _holds_tensors(file) else "model")))


def _holds_tensors(file: Path) -> bool:
    from attention_core.atlas import FileKind, kind_of_file

    try:
        return kind_of_file(file, file.name) is FileKind.TENSORS
    except (OSError, ValueError):
        return False
