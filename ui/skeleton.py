"""The skeleton of every page: title and question, parts that rerun alone, tabs of which one is open; sidebar, foot."""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, Literal, NamedTuple

import streamlit as st

from attention_core.files import find_file
from ui import try_this
from ui.address import PAGE, PLAYING, take_address, write_address
from ui.faults import faults_told
from ui.figures import forget_pictures, new_part, noted_in, save_pictures
from ui.inside_streamlit import StopException
from ui.lecture import lecture_mode
from ui.navigation import PAGES, PageEntry, entry_of, path_of, through_app
from ui.notations import other_notations
from ui.player import Player
from ui.sharing import sharing
from ui.state import Field, set_widget, widget_value
from ui.warm import is_warm

STYLE = """<style>
[data-testid="stMainBlockContainer"] { padding: 3.2rem 2.5rem 2.4rem; max-width: 1240px; }
[data-testid="stMainBlockContainer"] h1 { padding-bottom: 0.2rem; }
[data-testid="stTab"] p { font-size: 1rem; font-weight: 600; }
.role { font-weight: 600; }
[data-testid="stMainBlockContainer"] h1 { padding-top: 0; }
.who { margin: 0; line-height: 1.5; }
.who summary { cursor: pointer; } .who .icon { font: 1.15em/1 "Material Symbols Rounded"; vertical-align: -0.2em; }
.stHtml:has(> .who details) { margin-top: -0.6rem; }
.stHtml:has(> .try) { margin-top: -1rem; }
.stApp:has(.tried) .try, [data-testid="stElementContainer"]:has(> .stHtml > .tried) { display: none; }
.try b { margin-right: 0.3em; }
[data-testid="stVegaLiteChart"] svg.marks { max-width: 100%; height: auto; }
[data-testid="stFullScreenFrame"]:has([aria-label^="Close fullscreen"]) [data-testid="stVegaLiteChart"] {
  max-width: 560px; margin: auto; }
[data-testid="stFullScreenFrame"]:has([aria-label^="Close fullscreen"]) svg.marks {
  position: fixed; inset: 3.5rem 1rem 1rem; width: calc(100vw - 2rem); height: calc(100vh - 4.5rem); max-width: none; }
[class*="_presets"] { display: grid; grid-template-columns: repeat(5, 1fr); max-width: 256px; }
[class*="_presets"] button { width: 100%; }
[class*="_examples"] button { min-height: 1.9rem; padding: 0.05rem 0.6rem; }
[class*="_examples"] p { font-size: 0.86rem; }
[class*="_suggestions"] button, [class*="_suggestions"] button * { justify-content: flex-start; text-align: left; }
[class*="_tools"] button { padding-left: 0.5rem; padding-right: 0.5rem; }
[class*="_stepper"] button { padding: 0.1rem 0.5rem; }
[class*="_stepper"] [role="radio"] { height: auto; min-height: 2.5rem; }
[class*="_stepper"] [role="radio"] p { line-height: 1.2; font-size: 0.85rem; }
[class*="_stepper"] [role="radio"] p > span { display: block; opacity: 0.75; }
@media (max-width: 640px) { [data-testid="stMainBlockContainer"] { padding: 4.2rem 1rem 2.4rem; } }
</style>"""
STYLE += f"<style>{find_file('ui/assets/pages/readable.css').read_text(encoding='utf-8')}</style>"


OPEN_TAB = {entry.name: Field(entry.name, "tab", "", address="tab") for entry in PAGES}
"""The slug of the tab that is open on each page."""
SHOWN_TABS = {entry.name: Field[list[str]](entry.name, "tabs_were", list) for entry in PAGES}


class Tab(NamedTuple):
    """What stands below the first screen under one name.

    Attributes:
        slug: its name in the address, the same in every language.
        label: its name for people.
        draw: draws it, without arguments; called only while the tab is open.
    """

    slug: str
    label: str
    draw: Callable[[], None]


def page_frame(name: str, question: str) -> None:
    """Draw the page's heading and the question that it answers; a page that runs alone follows its address here.

    Args:
        name: see PageEntry.name.
        question: one or two sentences, Markdown.
    """
    through_app()
    if PAGE.value != name:
        take_address(name)
    forget_pictures()
    try_this.forget()
    page_head(entry_of(name).heading, question)


def page_head(heading: str, question: str) -> None:
    """Draw what stands above a page, whatever is to follow."""
    st.html(STYLE)
    st.title(heading, anchor=False)
    st.markdown(question)


def live(part: Callable[..., None], *given: Any, players: tuple[Player, ...] = (), beat: float | None = None) -> None:
    """Draw a part of the page that reruns alone when something in it is clicked, and with every beat of its players.

    Args:
        part: draws it.
        given: its arguments.
        players: those that it draws.
        beat: seconds after which it runs again by itself, if no player says so; None = it does not.
    """
    place = new_part()

    @wraps(part)
    def run(*given: Any) -> None:
        with suppress(StopException), noted_in(place), faults_told():
            part(*given)
        write_address()

    seconds = next((player.seconds for player in players if player.plays), beat)
    st.fragment(run, run_every=seconds)(*given)


def page_tabs(name: str, *tabs: Tab, players: tuple[Player, ...] = ()) -> None:
    """Draw the tabs below the first screen. Only the open one is computed; the address tells which, as `?tab=`.

    A click in a tab runs that tab alone. The first one is open on arrival.

    Args:
        name: of the page.
        tabs: in order.
        players: those in the tabs.
    """
    labels = {tab.slug: tab.label for tab in tabs}
    OPEN_TAB[name].offer(tabs[0].slug)
    OPEN_TAB[name].among(list(labels))
    live(_tabs, name, tabs, players=players)


def _tabs(name: str, tabs: tuple[Tab, ...]) -> None:
    opened, shown, key = OPEN_TAB[name], SHOWN_TABS[name], f"{name}_tabs"
    labels = {tab.label: tab.slug for tab in tabs}

    def take() -> None:
        opened.value = labels[widget_value(key)]
        PLAYING.value = ""

    label = next(tab.label for tab in tabs if tab.slug == opened.value)
    if widget_value(key) != label or shown.value != list(labels):  # other tabs would open on their first
        set_widget(key, label)
        shown.value = list(labels)
    for tab, place in zip(tabs, st.tabs(list(labels), key=key, on_change=take), strict=True):
        if place.open:
            with place:
                tab.draw()


def foot(entry: PageEntry) -> None:
    """Draw the end of a page: what leads on, the pages before and after, other texts' notations, how to share it."""
    place = PAGES.index(entry)
    st.divider()
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(entry.leads_on, width="content")
        if place + 1 < len(PAGES):
            _foot_link("after", PAGES[place + 1], "arrow_forward", "right")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        if place:
            _foot_link("before", PAGES[place - 1], "arrow_back", "left")
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            save_pictures(entry.name)
            other_notations()
            sharing(entry)


def _foot_link(where: str, entry: PageEntry, icon: str, side: Literal["left", "right"]) -> None:
    with st.container(key=f"page_{where}", width="content"):
        st.page_link(path_of(entry), label=entry.title, icon=f":material/{icon}:", icon_position=side)


def sidebar() -> None:
    """Draw the sidebar's foot."""
    with st.sidebar:
        lecture_mode()
        if is_warm():
            from ui.cluster import computing_words

            st.caption(computing_words())
