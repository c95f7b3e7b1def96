"""Which words matter: which words of a sentence decide a judgement?"""

import streamlit as st

from attention_core.attention.types import Role
from attention_core.data.sentence_presets import PRESETS
from attention_core.topics.matter.sentences import MAX_WORDS, read_sentence
from ui.computed import model_or_stop
from ui.layout import attention_roles, end_here, section
from ui.matter.judgement import (
    ATTENTION,
    NAME,
    STEPS,
    answers,
    attention_trace,
    blocked_words,
    doubts,
    explain_models,
    explain_question,
    neighbours_tab,
    words_section,
)
from ui.player import export_bar, show_step_chart, show_words
from ui.skeleton import Tab, page_frame, page_tabs
from ui.words import report_unknown_words, sentence_box

page_frame(NAME, "Which words of a sentence decide a judgement? Praise or blame, and what it rests on.")
attention_roles(
    "one learned vector, the same for every sentence; nobody in the sentence asks",
    "the encoder's state at each word",
    "the same states",
    here="Here one learned question asks every word of your sentence.",
    try_this="Press <i>Negation</i>: three networks read <i>Not bad at all.</i>, and all three call it negative.",
)
model_or_stop(ATTENTION)

say, judgement = st.columns([1.15, 1], gap="large")
with say:
    section("A sentence about a film")
    text = sentence_box(NAME, PRESETS, most_words=MAX_WORDS, label="In English")
if text is None:
    end_here()
sentence = read_sentence(text)
with say:
    is_read = report_unknown_words(sentence.words, sentence.known)
blocked = blocked_words(text)
trace = attention_trace(text, blocked)
with judgement:
    section("Answer")
    answers(text, blocked, is_read)
    explain_models()

section("The words it used", Role.WEIGHTS)
with st.container(key="tells_matter"):
    words_section(sentence, text, trace, blocked)
explain_question()


def matter_steps() -> None:
    step = STEPS.draw(trace)
    if STEPS.draw_guess(trace, step):
        return
    heaviest = int(trace.weights()[0].argmax())
    words, matrix = st.columns([0.82, 1], gap="large")
    with words:
        show_words(trace, step, 0, 0, heaviest)
    with matrix:
        show_step_chart(step, 0, None, NAME)


page_tabs(
    NAME,
    Tab("steps", "Step by step", matter_steps),
    Tab("similar", "Similar words draw similar weights", lambda: neighbours_tab(sentence, trace)),
    Tab("doubts", "How far to believe the map", lambda: doubts(text, trace, blocked)),
    Tab("take", "Take it along", lambda: export_bar(trace, NAME, query=0)),
    players=(STEPS,),
)
