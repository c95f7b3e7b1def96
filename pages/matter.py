"""Which words matter: which words of a sentence decide a judgement?"""

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.data.review_presets import PRESETS
from attention_core.topics.matter.sentences import MOST_WORDS, read_sentence
from ui.export import export_bar
from ui.layout import section, who_asks
from ui.matter.parts import (
    answers,
    blocked_words,
    doubts,
    neighbours_section,
    trace_of,
    what_differs,
    words_section,
)
from ui.models import model_or_stop
from ui.sentence import sentence_box
from ui.skeleton import page_frame
from ui.step_view import show_matrix, show_words
from ui.stepper import is_hidden, play_interval, stepper

NAME = "matter"

page_frame(NAME, "Which words of a sentence decide a judgement? Praise or blame, and what it rests on.")
who_asks(
    "one learned vector, the same for every sentence; nobody in the sentence asks",
    "the encoder's state at each word",
    "the same states",
)
model_or_stop("sentence-attention")

say, judgement = st.columns([1.15, 1], gap="large")
with say:
    section("A sentence about a film")
    text = sentence_box(NAME, PRESETS, most_words=MOST_WORDS, label="A sentence about a film, in English")
if text is None:
    st.stop()
sentence = read_sentence(text)
blocked = blocked_words(NAME, text)
trace = trace_of(sentence, blocked)
with judgement:
    section("Answer")
    answers(text, blocked)
    what_differs()

section("The words it used", Role.WEIGHTS)
words_section(NAME, sentence, text, trace, blocked)


def step_by_step(trace: AttentionTrace) -> None:
    """Step from the words' vectors to the answer."""
    step = stepper(trace, NAME)
    if is_hidden(step, NAME):
        return
    heaviest = int(trace.weights()[0].argmax())
    words, matrix = st.columns([0.82, 1], gap="large")
    with words:
        show_words(trace, step, 0, 0, heaviest)
    with matrix:
        show_matrix(step, 0, None, NAME)


def similar_words() -> None:
    """Compare near words by their weights."""
    neighbours_section(NAME, sentence, text, trace)


st.divider()
section("Step by step")
st.fragment(step_by_step, run_every=play_interval(NAME))(trace)
st.divider()
section("Similar words draw similar weights")
st.fragment(similar_words)()
st.divider()
section("How far to believe the map")
doubts(sentence, text, trace, blocked)
export_bar(trace, NAME, query=0)
