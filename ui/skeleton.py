"""The skeleton of every page: title, fragments, sidebar, foot."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from ui.chart import forget_pictures, new_picture_list, noting_pictures_in
from ui.faults import show_faults, show_what_was_lost
from ui.fragments import BODY, FRAGMENT_NAMES
from ui.hosting.uploads import show_refusal
from ui.hosting.warm_up import is_warm
from ui.inside_streamlit import StopException
from ui.lecture.guided.items import lecture_controls, page_question
from ui.lecture.hall.corner import hall_corner, pause_idle_hall
from ui.lecture.mode import LECTURE, lecture_mode
from ui.navigation import OPEN_QUESTION, PAGES, PageEntry, entry_of, open_question, path_of, through_app
from ui.state import APP, PAGE, Field, read_address, write_address
from ui.take_along import EXPORT, take_along_menu

if TYPE_CHECKING:
    from ui.player import Player

CLOCKS = Field[dict[str, float | None]](APP, "clocks", dict)
"""After how many seconds each fragment reruns by itself, by the name of its function; None = after clicks alone."""


def page_frame(name: str, question: str) -> None:
    """Begin a page: read the address, unless app.py has done so, and draw the page's heading and its question.

    While an experiment is open they are left out, since it has its own; in a lecture they stay, and CSS hides them.
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
        show_what_was_lost()

    return run


def draw_fragment(
    draw: Callable[..., None],
    *args: Any,
    name: str = "",
    players: tuple[Player, ...] = (),
    beat: float | None = None,
) -> None:
    """Draw a fragment, which reruns alone after a click in it.

    While one of its `players` plays, it also reruns by itself, at the player's pace; while none does, every `beat`
    seconds, None = never. With a `name`, callbacks can rerun it, see ui.fragments.
    """
    if name:
        FRAGMENT_NAMES.value.add(name)
    draw_guarded = guarded(draw)
    was_playing = any(player.is_playing for player in players)
    seconds = next((player.seconds for player in players if player.is_playing), beat)
    seconds_before = CLOCKS.value.get(draw.__qualname__)
    CLOCKS.value[draw.__qualname__] = seconds
    if seconds_before and seconds is None:
        st.rerun()  # the whole page: nothing else ends a fragment's clock

    @wraps(draw)
    def draw_until_player_stops(*args: Any) -> None:
        draw_guarded(*args)
        if was_playing and not any(player.is_playing for player in players):
            st.rerun()  # the whole page, which ends the player's clock

    st.fragment(draw_until_player_stops, run_every=seconds, key=name or None)(*args)


def page_body(draw: Callable[[], None]) -> None:
    """Draw all below a page's heading as one fragment.

    In a lecture it is no fragment: a click then reruns the whole page, and so ends a run that takes long.
    """
    if LECTURE.value:
        draw()
    else:
        draw_fragment(draw, name=BODY)


def foot(entry: PageEntry) -> None:
    """Draw the end of a page: its last sentence, links to the next page and the one before, the menu of downloads.

    By now the page has asked the hall what it asks; if that is nothing, the phones wait.
    """
    index = PAGES.index(entry)
    pause_idle_hall()
    with st.container(key="page_foot"):
        st.divider()
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(entry.leads_on, width="content")
            _foot_link("after", PAGES[(index + 1) % len(PAGES)], "arrow_forward", "right")  # at last to Start
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            if index:
                _foot_link("before", PAGES[index - 1], "arrow_back", "left")
            with show_faults():
                take_along_menu(entry)


def _foot_link(direction: str, entry: PageEntry, icon: str, icon_position: Literal["left", "right"]) -> None:
    with st.container(key=f"page_{direction}", width="content"):
        st.page_link(path_of(entry), label=entry.title, icon=f":material/{icon}:", icon_position=icon_position)


def sidebar() -> None:
    """Draw what stands in the sidebar below the pages: lecture mode, its controls, and what models compute on."""
    with st.sidebar:
        lecture_mode(on_change=_close_question if PAGE.value else None)
        if LECTURE.value:
            hall_corner()
            lecture_controls()
        if is_warm():
            from ui.computed import describe_compute_device  # it imports PyTorch

            st.caption(describe_compute_device())


def _close_question() -> None:
    """Bring the visitor back from an experiment to the page's hero, a lecture's first screen."""
    if PAGE.value in OPEN_QUESTION:
        OPEN_QUESTION[PAGE.value].reset()
