"""Read a number: how does attention move from step to step?"""

import streamlit as st

from attention_core.topics.read import ReadDrawing
from ui.layout import attention_roles, end_here, section
from ui.player import export_bar
from ui.read.experiments import another_start
from ui.read.first_screen import COLUMNS, NAME, REMARKS, answer, number_pad
from ui.read.looks import STEPS, WALK, another_question, look_by_look, present_look, read_steps, vectors
from ui.skeleton import Tab, page_frame, page_tabs

page_frame(
    NAME,
    "How does attention move from step to step? One picture, one look per digit; *what has been read decides where to "
    "look next*.",
)
attention_roles(
    "the reader's state before each look",
    "12 × 48 regions of the drawing",
    "their features",
    here="Here what was read so far asks every region for the next digit.",
    try_this="Press <i>31415</i>, open <i>Try: change the question</i>, choose <i>from later in this number</i>: the "
    "same picture reads 1415.",
)

left, right = st.columns(COLUMNS, gap="large")
with left:
    drawing = number_pad()
with right:
    if not isinstance(drawing, ReadDrawing):
        st.info(REMARKS[drawing])
        end_here()
    section("It reads")
    answer(drawing)


page_tabs(
    NAME,
    Tab("film", "Look by look", lambda: look_by_look(drawing)),
    Tab("question", "Same picture, another question", lambda: another_question(drawing)),
    Tab("state", "State, glimpse, state", lambda: vectors(drawing)),
    Tab("steps", "Step by step", lambda: read_steps(drawing)),
    Tab("start", "Try: change the question", lambda: another_start(drawing)),
    Tab(
        "take",
        "Take it along",
        lambda: export_bar(drawing.reading.trace, NAME, query=present_look(drawing), picture=drawing.canvas),
    ),
    players=(WALK, STEPS),
)
