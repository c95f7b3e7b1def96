"""Ask about a drawing: how does a question choose where to look?"""

import streamlit as st

from attention_core.data.questions import word_ids_of
from attention_core.faithfulness import subjects
from pages.ask.experiments import STEPS, WALK, ask_steps, caption_tab, change_section, export_look
from pages.ask.first_screen import MODEL, NAME, draw_answer, draw_question, scene_pad
from ui.computed import model_or_stop
from ui.faithfulness import KeysInPicture, faithfulness_tab
from ui.layout import last_on_phone
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along


def question_and_answer() -> None:
    """Draw the question and its answer, and what stands below them."""
    last_on_phone("ask_first", "ask_examples", "ask_presets", "ask_pen", "ask_tools", "ask_compose")
    with st.container(key="ask_first"):
        drawing_column, question_column = st.columns([1, 1.55], gap="medium")
        with drawing_column:
            glow = st.container(key="ask_glow")
            drawing, is_present_drawing = scene_pad()
        with question_column:
            model_or_stop(MODEL)
            reading, is_present_question = draw_question(drawing)
            answer = draw_answer(drawing, reading, is_present_question and is_present_drawing, glow)

    over = KeysInPicture(drawing.canvas, answer.looks[0].story.key_axis.picture_grid)
    erased = "regions", subjects.question_subject, drawing.picture, word_ids_of(reading.words)
    faithfulness = faithfulness_tab(NAME, MODEL, *erased, over=over)
    page_tabs(
        NAME,
        Tab("steps", "Step by step", lambda: ask_steps(drawing, reading.question, answer)),
        Tab("try", "Try", lambda: change_section(drawing, reading, answer)),
        Tab("tell", "Let it tell the drawing", lambda: caption_tab(drawing)),
        more=(faithfulness,),
        players=(STEPS, WALK),
    )
    take_along(lambda: export_look(drawing, reading.question, answer))


page_frame(NAME, "Ask a question about a drawing: the question itself decides where to look.")
page_body(question_and_answer)
