"""Ask about a drawing: how does a question choose where to look?"""

import streamlit as st

from attention_core.attention.types import Role
from attention_core.data.question_reading import Reading
from attention_core.models.scene_question import Answered
from ui.ask.answer import answer_part
from ui.ask.count import counting_part
from ui.ask.doubts import doubts_part
from ui.ask.experiments import experiment_part
from ui.ask.pad import NAME, pad_part
from ui.ask.question import MODEL, question_part
from ui.ask.steps import steps_part
from ui.layout import section, who_asks
from ui.models import model_or_stop
from ui.skeleton import page_frame
from ui.stepper import play_interval

page_frame(NAME, "How does a question choose where to look? Draw coloured digits, and ask about them.")
who_asks(
    "the question, read word by word",
    "256 regions of the drawing, and one key that stands for nothing",
    "what each region shows: which digit, which colour, where",
)

draw, ask = st.columns([1, 1.72], gap="large")
with draw:
    section("Draw")
    drawing = pad_part()
with ask:
    section("Ask")
    model_or_stop(MODEL)
    reading = question_part(drawing)
    answered = answer_part(drawing, reading) if reading is not None and not drawing.is_empty else None


def step_by_step(answered: Answered) -> None:
    """Follow one look from the picture to the answer."""
    steps_part(drawing, answered)


def experiment(reading: Reading, answered: Answered) -> None:
    """Change what the attention may do, and see the answer change."""
    experiment_part(drawing, reading, answered)


if reading is not None and answered is not None:
    st.divider()
    section("Step by step", Role.WEIGHTS)
    st.fragment(step_by_step, run_every=play_interval(f"{NAME}_look"))(answered)
    st.divider()
    section("How an average counts")
    st.fragment(counting_part)(drawing, reading.question)
    st.divider()
    section("Forbid it to look")
    st.fragment(experiment)(reading, answered)
    st.divider()
    section("How far to believe it")
    doubts_part()
