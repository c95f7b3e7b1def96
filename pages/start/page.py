"""Start: what does attention change, on two live examples, and where do I go?"""

import streamlit as st

from pages.start.first_screen import draw_page_cards, draw_scene, draw_translations, first_answers
from ui.lecture.guided.menu import lecture_menu
from ui.skeleton import draw_fragment, page_frame

page_frame(
    "start", "Type or draw: see what attention changes. Words that only one of two translations says are coloured."
)
sentence, scene = st.columns([1.4, 1], gap="large")
with sentence:
    draw_fragment(draw_translations)
with scene:
    draw_fragment(draw_scene)
with st.container(key="desk_start_path"):
    st.html(first_answers()["roles"])
    lecture_menu()
    st.divider()
    draw_page_cards()
