"""The skeleton of every page: title, parts that rerun alone, tabs or a lecture's screens, sidebar, foot."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, Literal, NamedTuple, Protocol

import streamlit as st

from ui.chart import forget_pictures, new_part, noted_in
from ui.faults import show_faults
from ui.hall.corner import end_of_page, hall_corner
from ui.inside_streamlit import StopException
from ui.lecture import LECTURE, SCREENS, hide_what_stands_above, lecture_mode
from ui.navigation import PAGES, PageEntry, entry_of, path_of, through_app
from ui.state import PAGE, PLAYING, Field, read_address, set_widget, single_choice, widget_value, write_address
from ui.take_along import OPEN_MENU, reset_take_along, take_along_menu
from ui.warm_up import is_warm

OPEN_TAB = {entry.name: Field(entry.name, "tab", "", address="tab") for entry in PAGES}
"""The slug of what is open on each page: a tab, a section of More, or in lecture mode TOP."""
TOP, MORE, TAKE = "top", "more", "take"
"""A lecture's first screen; the tab of sections; in old addresses, what the foot's menu holds."""
SHOWN_TABS = {entry.name: Field[list[str]](entry.name, "tabs_were", list) for entry in PAGES}


class Ticking(Protocol):
    """A player, see ui.player: what a part's clock has to know of it."""

    seconds: float

    @property
    def plays(self) -> bool:
        """Whether it goes on by itself."""


class Tab(NamedTuple):
    """What stands below the first screen under one name.

    Attributes:
        slug: its name in the address, the same in every language.
        label: its name for people.
        draw: draws it, without arguments; called only while the tab is open.
        formerly: slugs by which old addresses open it.
        below: what stands below it; in a lecture, a screen of its own.
    """

    slug: str
    label: str
    draw: Callable[[], None]
    formerly: tuple[str, ...] = ()
    below: Tab | None = None


def page_frame(name: str, question: str) -> None:
    """Draw the page's heading and the question that it answers; a page that runs alone follows its address here.

    Args:
        name: see PageEntry.name.
        question: one or two sentences, Markdown.
    """
    through_app()
    if PAGE.value != name:
        read_address(name)
    forget_pictures()
    reset_take_along()
    page_head(entry_of(name).heading, question)


def page_head(heading: str, question: str) -> None:
    """Draw what stands above a page, whatever is to follow."""
    st.title(heading, anchor=False)
    with st.container(key="page_question"):
        st.markdown(question)


def live(part: Callable[..., None], *given: Any, players: tuple[Ticking, ...] = (), beat: float | None = None) -> None:
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
        with suppress(StopException), noted_in(place), show_faults():
            part(*given)
        write_address()

    seconds = next((player.seconds for player in players if player.plays), beat)
    st.fragment(run, run_every=seconds)(*given)


def page_tabs(name: str, *tabs: Tab, more: tuple[Tab, ...] = (), players: tuple[Ticking, ...] = ()) -> None:
    """Draw the tabs below the first screen. Only the open one is computed; the address tells which, as `?tab=`.

    A click in a tab runs that tab alone. The first one is open on arrival. In lecture mode the first screen, each tab
    and each section stand alone, see ui.lecture.

    Args:
        name: of the page.
        tabs: in order.
        more: what goes deeper, closed sections of a last tab.
        players: those in the tabs.
    """
    opened, parts = OPEN_TAB[name], _parts((*tabs, *more))
    slugs = [tab.slug for tab in (parts if LECTURE.value else (*tabs, *more))]
    first = tabs[0].slug if tabs else MORE
    start = TOP if LECTURE.value else first
    opened.suggest(start)
    renamed = {slug: tab.slug for tab in parts for slug in tab.formerly}
    if not LECTURE.value:
        renamed |= {tab.below.slug: tab.slug for tab in (*tabs, *more) if tab.below}
    if opened.value == TAKE and TAKE not in slugs:
        set_widget(OPEN_MENU, True)
        renamed[TAKE] = first
    if opened.value in renamed:
        opened.value = renamed[opened.value]
    opened.clamp_to_options([*([TOP] if LECTURE.value else []), *slugs, *([MORE] if more else [])], start)
    live(_screens if LECTURE.value else _tabs, name, tabs, more, players=players)


def _parts(tabs: tuple[Tab, ...]) -> list[Tab]:
    """Return tabs and what stands below them, in order."""
    return [part for tab in tabs for part in (tab, tab.below) if part]


def _draw(tab: Tab) -> None:
    for part in _parts((tab,)):
        part.draw()


def _screens(name: str, tabs: tuple[Tab, ...], more: tuple[Tab, ...]) -> None:
    """Draw a lecture's screen and the list of all."""
    opened, screens = OPEN_TAB[name], {tab.slug: tab for tab in _parts((*tabs, *more))}
    mark = st.empty()
    with st.container(key=SCREENS):
        labels = {TOP: entry_of(name).title} | {slug: tab.label for slug, tab in screens.items()}
        single_choice("Screen", opened, labels, label_visibility="collapsed", wrap=True)
    if opened.value != TOP:
        hide_what_stands_above(mark)
        screens[opened.value].draw()


def _tabs(name: str, tabs: tuple[Tab, ...], more: tuple[Tab, ...]) -> None:
    opened, shown, key = OPEN_TAB[name], SHOWN_TABS[name], f"{name}_tabs"
    if more:
        tabs = (*tabs, Tab(MORE, "More", lambda: _sections(name, more)))
    labels = {tab.label: tab.slug for tab in tabs}

    def take() -> None:
        opened.value = labels[widget_value(key)]
        PLAYING.value = ""

    slug = MORE if opened.value in {section.slug for section in more} else opened.value
    label = next(tab.label for tab in tabs if tab.slug == slug)
    if widget_value(key) != label or shown.value != list(labels):  # other tabs would open on their first
        set_widget(key, label)
        shown.value = list(labels)
    for tab, place in zip(tabs, st.tabs(list(labels), key=key, on_change=take), strict=True):
        if place.open:
            with place:
                _draw(tab)


def _sections(name: str, sections: tuple[Tab, ...]) -> None:
    """Draw closed sections; one is open at a time, and computed only then."""
    opened = OPEN_TAB[name]

    def take(slug: str, key: str) -> None:
        opened.value = slug if widget_value(key) else MORE

    for section in sections:
        key = f"{name}_section_{section.slug}"
        set_widget(key, opened.value == section.slug)
        place = st.expander(section.label, key=key, on_change=take, args=(section.slug, key))
        if place.open:
            with place:
                _draw(section)


def foot(entry: PageEntry) -> None:
    """Draw the end of a page: what leads on, the pages before and after, the menu of what can be taken along."""
    place = PAGES.index(entry)
    end_of_page()
    with st.container(key="page_foot"):
        st.divider()
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(entry.leads_on, width="content")
            if place + 1 < len(PAGES):
                _foot_link("after", PAGES[place + 1], "arrow_forward", "right")
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            if place:
                _foot_link("before", PAGES[place - 1], "arrow_back", "left")
            with show_faults():
                take_along_menu(entry)


def _foot_link(where: str, entry: PageEntry, icon: str, side: Literal["left", "right"]) -> None:
    with st.container(key=f"page_{where}", width="content"):
        st.page_link(path_of(entry), label=entry.title, icon=f":material/{icon}:", icon_position=side)


def sidebar() -> None:
    """Draw the sidebar's foot."""
    with st.sidebar:
        lecture_mode(on_change=OPEN_TAB[PAGE.value].reset if PAGE.value else None)
        if LECTURE.value:
            hall_corner()
        if is_warm():
            from ui.computed import computing_words

            st.caption(computing_words())
