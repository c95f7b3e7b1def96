"""Attention Explorer: page config, navigation, sidebar. Run with `streamlit run app.py`."""

import os
from contextlib import suppress

os.environ.setdefault("OMP_NUM_THREADS", "1")  # two threads for one visitor starve the next (before torch is imported)

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from attention_core.files import find_file
from ui.navigation import PAGES, navigation
from ui.opened import go_to_opened
from ui.skeleton import foot, sidebar
from ui.state import write_address

st.set_page_config(page_title="Attention Explorer", page_icon=str(find_file("ui/icon.png")), layout="wide")
st.session_state["came_through_app"] = True
page = navigation()
go_to_opened(page.url_path)
sidebar()
with suppress(StopException):  # a page ends early where something is missing; its foot and its address do not
    page.run()
foot(next(entry for entry in PAGES if entry.title == page.title))
write_address()
