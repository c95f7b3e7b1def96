"""What one changes in an experiment of the page: the lesson, and one's own input."""

from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core.live_training.live_run import LiveRun
from pages.train import first_screen as screen
from pages.train.files import offer_files
from pages.train.training import Training
from ui.lecture.mode import LECTURE
from ui.take_along import take_along


class Learning(NamedTuple):
    """A training, the visitor's input as the model reads it, a text that identifies it, and a column for the film."""

    training: Training
    inputs: Any
    text: str
    film_column: DeltaGenerator

    @property
    def run(self) -> LiveRun:
        """What is trained."""
        return self.training.run


def draw_lesson() -> Learning:
    """Draw the lesson and the input; return them with their training and the column beside them."""
    screen.choose_lesson()
    wide = st.container(), st.container()  # a lecture hides the input
    input_column, film_column = wide if LECTURE.value else st.columns([1, 2.3], gap="large")
    with input_column, st.container(key="experiment_input"):
        inputs, text = screen.draw_input()
    training = screen.current_training()
    take_along(lambda: offer_files(training))
    return Learning(training, inputs, text, film_column)


def draw_film_beside(learning: Learning) -> None:
    """Draw the film of a training beside its input."""
    with learning.film_column:
        screen.draw_learning(learning.training, learning.inputs, learning.text)
