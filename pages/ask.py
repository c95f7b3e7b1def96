"""Ask about a drawing: how does a question choose where to look?"""

import streamlit as st

from ui.ask.experiments import WALK, caption_tab, counting, forbidding
from ui.ask.first_screen import MODEL, NAME, answer_part, question_part, scene_pad
from ui.ask.steps import STEPS, ask_steps, doubts, take_along
from ui.computed import model_or_stop
from ui.layout import attention_roles, end_here, section
from ui.skeleton import Tab, page_frame, page_tabs

page_frame(NAME, "How does a question choose where to look? Draw coloured digits, and ask about them.")
attention_roles(
    "the question, read word by word",
    "256 regions of the drawing, and one key that stands for nothing",
    "what each region shows: which digit, which colour, where",
    here="Here your question asks 256 regions of the drawing.",
    try_this="Open <i>Try: forbid it to look</i>, switch on <i>Uniform attention</i>: the answer 7 becomes “nothing”.",
)

draw, ask = st.columns([1, 1.55], gap="medium")
with draw:
    section("Draw")
    drawing = scene_pad()
with ask:
    section("Ask")
    model_or_stop(MODEL)
    reading = question_part(drawing)
    if reading is None or drawing.is_empty:
        end_here()
    answered = answer_part(drawing, reading)


page_tabs(
    NAME,
    Tab("steps", "Step by step", lambda: ask_steps(drawing, answered)),
    Tab("tell", "Let it tell the drawing", lambda: caption_tab(drawing)),
    Tab("count", "How an average counts", lambda: counting(drawing, reading.question)),
    Tab("forbid", "Try: forbid it to look", lambda: forbidding(drawing, reading, answered)),
    Tab("doubts", "How far to believe it", doubts),
    Tab("take", "Take it along", lambda: take_along(drawing, answered)),
    players=(STEPS, WALK),
)
