"""Lecture mode: the page as large as the screen, keys and presenters' remote controls, spotlight, dark or light."""

import streamlit as st

from attention_core.files import find_file
from ui.component import component
from ui.navigation import PAGES
from ui.state import APP, Field

LECTURE = Field(APP, "lecture", False, address="lecture")
_component = component("lecture")


def lecture_mode() -> None:
    """Let a lecturer switch lecture mode on, and give the page its keys."""
    on = LECTURE.widget(
        st.toggle,
        "Lecture mode",
        help="Everything larger, for a projector. The key ? lists the others, those of a presenter's remote too.",
    )
    if on:
        st.html(find_file("ui/assets/pages/lecture.css"))
    _component(key="lecture_keys", data={"on": on, "paths": [page.url_path for page in PAGES]})
