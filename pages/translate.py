"""Translate and align: what does a decoder look at, word by word?"""

import streamlit as st

from attention_core.data.sentence_presets import TRANSLATE
from ui.layout import attention_roles
from ui.player import export_bar
from ui.skeleton import Tab, page_frame, page_tabs
from ui.translate.additive import alignment_errors, any_length, being_learned
from ui.translate.first_screen import (
    LAYER,
    NAME,
    STEPS,
    WORD,
    compare_two_models,
    focused,
    forced_french_note,
    list_all_models,
    sentence_input,
)
from ui.translate.word_tabs import alignments, same_meaning, translate_steps, unrolled

page_frame(NAME, "What does a decoder look at, word by word? Hover a French word, or click it.")
attention_roles(
    "the decoder's state at each French word",
    "the encoder's state at each English word",
    "the same states",
    here="Here each French word, before it is written, asks all English words.",
    try_this="Press <i>A long one</i> and watch the first translation break.",
)

typed, answer = st.columns([1, 1.95], gap="medium")
with typed:
    text = sentence_input()
with answer:
    models = compare_two_models(text) if text else {}
with typed:
    if text and models:
        forced_french_note(text, focused(models))
    if text:
        list_all_models(text)

tabs = [
    Tab("length", "Try: any length", lambda: any_length(text or next(iter(TRANSLATE.values())))),
    Tab("learned", "How it was learned", being_learned),
    Tab("errors", "How far to believe it", alignment_errors),
]
if text and models:
    shown, row = focused(models), WORD.value
    query = shown.view.first_piece[row]
    tabs = [
        Tab("steps", "Step by step", lambda: translate_steps(shown, row, text)),
        Tab("unrolled", "Unrolled", lambda: unrolled(shown, row)),
        Tab("alignment", "Who looks where", lambda: alignments(models)),
        Tab("meaning", "Is it meaning?", lambda: same_meaning(shown, row, text, LAYER.value)),
        *tabs,
        Tab("take", "Take it along", lambda: export_bar(shown.trace, NAME, query=query)),
    ]
page_tabs(NAME, *tabs, players=(STEPS,))
