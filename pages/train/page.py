"""Train it yourself: a small network learns while one watches."""

import streamlit as st

from pages.train import first_screen as screen
from pages.train.tabs import did_attention_work, draw_breaks, offer_files
from ui.layout import attention_roles, last_on_phone
from ui.lecture.mode import LECTURE
from ui.skeleton import Tab, draw_fragment, page_frame, page_tabs
from ui.take_along import take_along

page_frame(
    screen.NAME,
    "Train a small network, and watch where it learns to look. Beside it, the same one learns with every weight equal.",
)
attention_roles(screen.query_text(screen.current_settings()))
screen.choose_lesson()
last_on_phone("train_first", "train_canvas_frame", "train_presets", "train_tools", "train_settings")
with st.container(key="train_first"):
    input_column, film = st.columns([1, 2.3], gap="large")
    with input_column:
        inputs, text = screen.draw_input()
        with st.container(key="train_settings"):
            screen.change_settings()
    training = screen.current_training()
    beat = screen.BEAT if training.is_on else None
    with film:
        draw_fragment(screen.draw_learning, training, inputs, text, training.is_on, beat=beat)

tabs = [
    Tab("work", "Did attention do any work?", lambda: draw_fragment(did_attention_work, training, text, beat=beat)),
    Tab("break", "Break it", draw_breaks),
]
page_tabs(screen.NAME, *tabs[: 1 if LECTURE.value and screen.TRAINING.value is None else None])
take_along(lambda: offer_files(training))
