"""Ask about a drawing: how does a question choose where to look?"""

import streamlit as st

from pages.ask.experiments import STEPS, WALK, ask_doubts, ask_steps, caption_tab, change_section, counting, export_look
from pages.ask.first_screen import MODEL, NAME, answer_part, question_part, scene_pad
from ui.computed import model_or_stop
from ui.layout import last_on_phone
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along


def question_and_answer() -> None:
    """Draw the question and its answer, and what stands below them."""
    last_on_phone("ask_first", "ask_examples", "ask_presets", "ask_pen", "ask_tools", "ask_compose")
    with st.container(key="ask_first"):
        draw, ask = st.columns([1, 1.55], gap="medium")
        with draw:
            glow = st.container(key="ask_glow")
            drawing, is_drawn = scene_pad()
        with ask:
            model_or_stop(MODEL)
            reading, is_typed = question_part(drawing)
            answered = answer_part(drawing, reading, is_typed and is_drawn, glow)

    page_tabs(
        NAME,
        Tab("steps", "Step by step", lambda: ask_steps(drawing, reading.question, answered)),
        Tab("try", "Try", lambda: change_section(drawing, reading, answered), formerly=("forbid",)),
        Tab("tell", "Let it tell the drawing", lambda: caption_tab(drawing)),
        more=(
            Tab("count", "How an average counts", lambda: counting(drawing, reading.question)),
            ask_doubts(drawing, reading.words, answered),
        ),
        players=(STEPS, WALK),
    )
    take_along(lambda: export_look(drawing, reading.question, answered))


page_frame(NAME, "Ask a question about a drawing: the question itself decides where to look.")
page_body(question_and_answer)
