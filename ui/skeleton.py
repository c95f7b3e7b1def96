"""The skeleton of every page: title, fragments, tabs or a lecture's screens, sidebar, foot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import streamlit as st

from ui.chart import forget_pictures, new_picture_list, noting_pictures_in
from ui.faults import show_faults, show_lost_gpu
from ui.fragments import BODY, FRAGMENT_NAMES
from ui.hosting.uploads import show_refusal
from ui.hosting.warm_up import is_warm
from ui.inside_streamlit import StopException
from ui.lecture.guided.items import lecture_controls, page_question
from ui.lecture.hall.corner import hall_corner, pause_idle_hall
from ui.lecture.mode import LECTURE, SCREENS, lecture_mode
from ui.navigation import OPEN_QUESTION, PAGES, PageEntry, entry_of, open_question, path_of, through_app
from ui.state import APP, PAGE, PLAYING, Field, read_address, set_widget, single_choice, widget_value, write_address
from ui.take_along import EXPORT, take_along_menu
from ui.try_this import undo_surprise

if TYPE_CHECKING:
    from ui.player import Player

OPEN_TAB = {entry.name: Field(entry.name, "tab", "", address="tab") for entry in PAGES}
"""The slug of what is open on each page: a tab, a section of More, or in lecture mode TOP."""
TOP, SECTIONS_TAB = "top", "more"
"""Slugs: of a lecture's first screen, of the tab "More"."""
CLOCKS = Field[dict[str, float | None]](APP, "clocks", dict)
"""The seconds between two runs of each fragment, by the name of its function; None = it runs after clicks alone."""
PREVIOUS_TABS = {entry.name: Field[list[str]](entry.name, "tabs_were", list) for entry in PAGES}  # their labels


class Tab(NamedTuple):
    """A tab below the first screen, or a section of a tab."""

    slug: str  # its name in the address, which never changes
    label: str
    draw: Callable[[], None] | None  # called only while it is open; None = it has nothing but sections
    below: Tab | None = None  # drawn below it; in a lecture, a separate screen
    # expanders below it, of which one is open at a time; in a lecture, each is a screen
    sections: tuple[Tab, ...] = ()


def page_frame(name: str, question: str) -> None:
    """Draw the page's heading and the question that it answers; read the address, unless app.py has done so.

    An open experiment has a heading of its own.
    """
    through_app()
    if PAGE.value != name:
        read_address(name)
    forget_pictures()
    EXPORT.value = None
    CLOCKS.value, FRAGMENT_NAMES.value = {}, set()
    if LECTURE.value or open_question(name) is None:
        page_head(entry_of(name).heading, question)


def page_head(heading: str, question: str) -> None:
    """Draw the heading and the question of a page."""
    st.title(heading, anchor=False)
    with st.container(key="page_question"):
        page_question(question)


def guarded(draw: Callable[..., None]) -> Callable[..., None]:
    """Return a function that draws a page or fragment, shows its faults, notes its pictures, and writes the address."""
    pictures = new_picture_list()

    @wraps(draw)
    def run(*args: Any) -> None:
        with suppress(StopException), noting_pictures_in(pictures), show_faults():
            draw(*args)
        write_address()
        show_refusal()
        show_lost_gpu()

    return run


def draw_fragment(
    draw: Callable[..., None],
    *args: Any,
    name: str = "",
    players: tuple[Player, ...] = (),
    beat: float | None = None,
) -> None:
    """Draw a fragment: it reruns alone after a click in it, and with every beat of a player in it that plays.

    While none plays, it reruns after each `beat`, in seconds; None = it does not. Callbacks can run it by its name, see
    ui.fragments.
    """
    if name:
        FRAGMENT_NAMES.value.add(name)
    was_playing, run = any(player.is_playing for player in players), guarded(draw)
    seconds = next((player.seconds for player in players if player.is_playing), beat)
    seconds_before, CLOCKS.value[draw.__qualname__] = CLOCKS.value.get(draw.__qualname__), seconds
    if seconds_before and seconds is None:
        st.rerun()  # the whole page: nothing else ends a fragment's clock

    @wraps(draw)
    def ticking(*args: Any) -> None:
        run(*args)
        if was_playing and not any(player.is_playing for player in players):
            st.rerun()

    st.fragment(ticking, run_every=seconds, key=name or None)(*args)


def page_body(draw: Callable[[], None]) -> None:
    """Draw all below a page's heading as one fragment; not in a lecture, where the next click ends a long run."""
    if LECTURE.value:
        draw()
    else:
        draw_fragment(draw, name=BODY)


def page_tabs(name: str, *tabs: Tab, more: tuple[Tab, ...] = (), players: tuple[Player, ...] = ()) -> None:
    """Draw the tabs below the first screen. Only the open one is computed; its slug is in the address, as `?tab=`.

    A click in a tab reruns the tabs alone. The first is open on arrival; `more` are the sections of a last one. In
    lecture mode the first screen, each tab and each section are separate screens, see ui.lecture.mode.
    """
    opened = OPEN_TAB[name]
    if more:
        tabs = (*tabs, Tab(SECTIONS_TAB, "More", None, sections=more))
    all_tabs = [section for tab in tabs for section in (tab, *tab.sections)]
    screens = _screens_of(tabs)
    slugs = [TOP, *(screen.slug for screen in screens)] if LECTURE.value else [tab.slug for tab in all_tabs]
    opened.suggest(slugs[0])
    above = {} if LECTURE.value else {tab.below.slug: tab.slug for tab in all_tabs if tab.below}
    if opened.value in above:
        opened.value = above[opened.value]
    opened.clamp_to_options(slugs)
    if LECTURE.value:
        draw_fragment(_draw_screens, name, screens, players=players)
    else:
        draw_fragment(_draw_tabs, name, tabs, players=players)


def _screens_of(tabs: Iterable[Tab]) -> list[Tab]:
    """Return the screens of a lecture in order: each tab, what is below it, its sections."""
    screens = []
    for tab in tabs:
        below = (tab.below,) if tab.below else ()
        screens += ([tab] if tab.draw else []) + _screens_of((*below, *tab.sections))
    return screens


def _draw_screens(name: str, screens: list[Tab]) -> None:
    opened, mark = OPEN_TAB[name], st.empty()
    with st.container(key=SCREENS):
        labels = {TOP: entry_of(name).title} | {screen.slug: screen.label for screen in screens}
        single_choice("Screen", opened, labels, label_visibility="collapsed", on_change=partial(_on_screen, name))
    if opened.value != TOP:
        mark.html('<span class="screen"></span>')  # hides all above it, see lecture.css
        next(screen for screen in screens if screen.slug == opened.value).draw()  # type: ignore[misc]


def _on_screen(name: str) -> None:
    """Undo the page's surprise once the lecture leaves the first screen."""
    if OPEN_TAB[name].value != TOP and undo_surprise(name):
        st.rerun()  # the whole page, which reads the restored address


def _draw_tabs(name: str, tabs: tuple[Tab, ...]) -> None:
    opened, previous, key = OPEN_TAB[name], PREVIOUS_TABS[name], f"{name}_tabs"
    labels = {tab.label: tab.slug for tab in tabs}

    def on_change() -> None:
        opened.value = labels[widget_value(key)]
        PLAYING.value = ""

    label = next(tab.label for tab in tabs if opened.value in {section.slug for section in (tab, *tab.sections)})
    if widget_value(key) != label or previous.value != list(labels):  # else new tabs would open on the first
        set_widget(key, label)
        previous.value = list(labels)
    for tab, slot in zip(tabs, st.tabs(list(labels), key=key, on_change=on_change), strict=True):
        if slot.open:
            with slot:
                _draw_tab(name, tab)


def _draw_tab(name: str, tab: Tab) -> None:
    """Draw a tab or section, what is below it, and its sections, of which only the open one is computed."""
    if tab.draw:
        tab.draw()
    if tab.below:
        _draw_tab(name, tab.below)
    opened = OPEN_TAB[name]

    def on_change(slug: str, key: str) -> None:
        opened.value = slug if widget_value(key) else tab.slug

    for section in tab.sections:
        key = f"{name}_section_{section.slug}"
        set_widget(key, opened.value == section.slug)
        slot = st.expander(section.label, key=key, on_change=on_change, args=(section.slug, key))
        if slot.open:
            with slot:
                _draw_tab(name, section)


def foot(entry: PageEntry) -> None:
    """Draw the end of a page: its last sentence, links to the pages before and after, the menu of downloads."""
    index = PAGES.index(entry)
    pause_idle_hall()
    with st.container(key="page_foot"):
        st.divider()
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(entry.leads_on, width="content")
            if index + 1 < len(PAGES):
                _foot_link("after", PAGES[index + 1], "arrow_forward", "right")
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            if index:
                _foot_link("before", PAGES[index - 1], "arrow_back", "left")
            with show_faults():
                take_along_menu(entry)


def _foot_link(direction: str, entry: PageEntry, icon: str, side: Literal["left", "right"]) -> None:
    with st.container(key=f"page_{direction}", width="content"):
        st.page_link(path_of(entry), label=entry.title, icon=f":material/{icon}:", icon_position=side)


def sidebar() -> None:
    with st.sidebar:
        lecture_mode(on_change=_open_first_screen if PAGE.value else None)
        if LECTURE.value:
            hall_corner()
            lecture_controls()
        if is_warm():
            from ui.computed import describe_compute_device

            st.caption(describe_compute_device())


def _open_first_screen() -> None:
    for opened in (OPEN_TAB, OPEN_QUESTION):
        if PAGE.value in opened:
            opened[PAGE.value].reset()
