"""Lecture mode: a page is a row of screens, each fitted to the projector, with keys for a presenter's remote control.

What a hall does not need stands in containers whose keys begin with `desk_`.
"""

from collections.abc import Callable

import streamlit as st

from attention_core.files import find_file
from ui.component import component
from ui.navigation import PAGES, entry_of
from ui.state import APP, PAGE, Field

LECTURE = Field(APP, "lecture", False, address="lecture")
SCREENS = "lecture_screens"  # the key of the list of a page's screens, by which the keys find it
_component = component("lecture", folder="ui/lecture")


def lecture_mode(on_change: Callable[[], None] | None = None) -> None:
    """Let a lecturer switch lecture mode on, and give the page its keys."""
    on = LECTURE.widget(st.toggle, "Lecture mode", on_change=on_change)
    if on:
        st.html(find_file("ui/styles/lecture.css"))
    _component(key="lecture_keys", data={"on": on, "paths": [page.url_path for page in PAGES], "way": _way()})


def _way() -> list[int]:
    """Return the indices of the screens that a remote control leads through; [] = all."""
    questions = entry_of(PAGE.value).questions if PAGE.value else ()
    return [0, *(index for index, question in enumerate(questions, 1) if question.in_lecture)] if questions else []
