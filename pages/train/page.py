"""Train it yourself: a small network learns while one watches."""

import streamlit as st

from pages.train import first_screen as screen
from pages.train.tabs import break_it, compare_runs, did_attention_work, take_training
from ui.layout import attention_roles, last_on_phone
from ui.lecture.mode import LECTURE
from ui.skeleton import Tab, live, page_frame, page_tabs
from ui.take_along import take_along

page_frame(
    screen.NAME,
    "Train a small network, and watch where it learns to look. Beside it, the same one learns with every weight equal.",
)
attention_roles(screen.who_asks(screen.settings_now()))
screen.choose_lesson()
last_on_phone("train_first", "train_canvas_frame", "train_presets", "train_tools", "train_settings")
with st.container(key="train_first"):
    own, film = st.columns([1, 2.3], gap="large")
    with own:
        given, text = screen.own_input()
        with st.container(key="train_settings"):
            screen.change_settings()
    training = screen.shown_training()
    beat = screen.BEAT if training.is_on else None
    with film:
        live(screen.learning, training, given, text, training.is_on, beat=beat)

tabs = [
    Tab("work", "Did attention do any work?", lambda: live(did_attention_work, training, text, beat=beat)),
    Tab("break", "Break it", break_it),
    Tab("compare", "Compare two trainings", lambda: compare_runs(training, given, text)),
]
page_tabs(screen.NAME, *tabs[: 1 if LECTURE.value and screen.TRAINING.value is None else None])
take_along(lambda: take_training(training))
