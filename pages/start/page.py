"""Start: what does attention change on a live example, what would you like to know, and where do I go?"""

import streamlit as st

from pages.start.first_screen import draw_drawing, draw_screen, draw_translations
from pages.start.search import draw_search
from pages.start.story import draw_story
from ui.lecture.guided.menu import lecture_menu
from ui.lecture.mode import LECTURE
from ui.skeleton import draw_fragment, page_frame

page_frame("start", "With attention a network looks back at its input at every step.")
draw_fragment(draw_screen if LECTURE.value else draw_translations)
drawing = st.container(key="start_drawing")
with st.container(key="desk_start_search"):
    draw_fragment(draw_search)
with st.container(key="desk_start_path"):
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.header("Attention in eight pictures", anchor=False, width="content")
        lecture_menu()
    draw_story()
if not LECTURE.value:
    with drawing:
        st.header("A question can ask a drawing, too", anchor=False)
        draw_fragment(draw_drawing)  # last, since it imports libraries, for which nothing else has to wait
