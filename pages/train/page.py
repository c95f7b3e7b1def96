"""Train it yourself: a small network learns while one watches."""

import streamlit as st

from pages.train import first_screen as screen
from pages.train.files import offer_files
from ui.layout import last_on_phone
from ui.questions import draw_experiment, page_questions
from ui.skeleton import draw_fragment, page_body, page_frame
from ui.take_along import take_along
from ui.try_this import try_this


def draw_training() -> None:
    """Draw the open experiment, or the lesson, the visitor's input and the film of the training, and the questions."""
    beat = screen.page_beat()
    if draw_experiment(screen.NAME, beat=beat):
        return
    row = st.container(key="train_lessons_in_a_row", horizontal=True, vertical_alignment="center")
    with row:
        screen.choose_lesson()
    screen.restore_graph()
    last_on_phone("train_first", "train_canvas_frame", "train_presets", "train_tools", "train_settings")
    with st.container(key="train_first"):
        has_pad = screen.LESSON.value == "digits"
        input_column, film = st.columns([1, 2.7], gap="medium") if has_pad else (st.container(), st.container())
        if screen.LESSON.value == "graph":
            input_column, film = film, input_column  # so that the graph is seen whole
        with input_column if has_pad else input_column.container(key="experiment_input_text"):  # which a lecture hides
            inputs, text = screen.draw_input()
        with input_column if has_pad else st.container(), st.container(key="train_settings"):
            screen.change_settings()
        training = screen.current_training()
        with film:
            draw_fragment(screen.draw_learning, training, inputs, text, beat=beat)
    if surprise := screen.relinked_guess(training, text):
        with row:
            try_this(screen.NAME, surprise)
    take_along(lambda: offer_files(training))
    page_questions(screen.NAME, None)


page_frame(
    screen.NAME,
    "**Nobody tells the network where to look.** It learns that from right answers.",
)
page_body(draw_training)
