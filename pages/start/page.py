"""Start: what does attention change on a live example, what would you like to know, and where do I go?"""

import streamlit as st

from pages.start.first_screen import draw_demonstration, draw_story, first_answers
from pages.start.search import draw_search
from ui.lecture.guided.menu import lecture_menu
from ui.skeleton import draw_fragment, page_frame

page_frame("start", "With attention a network looks back at its input at every step.")
draw_fragment(draw_demonstration)
with st.container(key="desk_start_search"):
    draw_fragment(draw_search)
with st.container(key="desk_start_path"):
    st.html(first_answers()["roles"])
    lecture_menu()
    st.header("The story, page by page", anchor=False)
    draw_story()
