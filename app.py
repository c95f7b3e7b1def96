"""Attention Explorer: page config, navigation, sidebar. Run with `streamlit run app.py`."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # two threads for one visitor starve the next (before torch is imported)

import streamlit as st

from attention_core.files import find_file
from ui.navigation import navigation
from ui.opened import go_to_opened
from ui.sidebar import sidebar

st.set_page_config(page_title="Attention Explorer", page_icon=str(find_file("ui/icon.png")), layout="wide")
st.session_state["came_through_app"] = True
page = navigation()
go_to_opened(page.url_path)
sidebar()
page.run()
