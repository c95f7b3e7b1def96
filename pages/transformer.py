"""Inside a transformer: what is left when the recurrence goes?"""

import streamlit as st

from attention_core.data.sentence_presets import LAYERED
from attention_core.topics.translate.translation import read_source
from ui.computed import model_or_none
from ui.layout import attention_roles, section
from ui.skeleton import Tab, page_frame, page_tabs
from ui.transformer.heads import (
    MODEL,
    NAME,
    STEPS,
    all_heads,
    english_part,
    experiment_on,
    french_part,
    heads_off,
    restore,
    take_along,
    transformer_steps,
)
from ui.transformer.order import cost_of_length, order_twice, shuffled_words, three_positions
from ui.words import sentence_box

page_frame(
    NAME,
    "Remove the recurrent network. What remains is attention alone: many heads of it, plus a code for each "
    "word's position.",
)
attention_roles(
    "each piece of a sentence",
    "all pieces of a sentence, in a decoder only those before",
    "what the layer below made of them",
    here="Here every piece of a word asks all the others, in many heads at once.",
    try_this="Press <i>Who bit whom</i>, open <i>Try: shuffle the words</i>, press <i>Reverse</i>: the man bites the "
    "dog, unless positions are left out.",
    meanwhile={"text": LAYERED["Who bit whom"]},
)
model, missing = model_or_none(MODEL)
typed, answer = st.columns([1.15, 1], gap="large")
with typed:
    text = sentence_box(NAME, LAYERED, height=68)
    source = read_source(text) if text else None
    if source and model:
        english_part(source)
with answer:
    section("In French")
    if model is None:
        st.error(f"**The transformer cannot be loaded.** {missing}", icon=":material/error:")
    elif text:
        french_part(experiment_on(text), restore)

tabs = [
    Tab("positions", "Where a word stands", three_positions),
    Tab("cost", "What it costs", lambda: cost_of_length(len(source.ids) if source else 12)),
]
if text and model:
    tabs = [
        Tab("heads", "All heads", lambda: all_heads(text)),
        Tab("steps", "Step by step", lambda: transformer_steps(text)),
        Tab("off", "Try: switch heads off", lambda: heads_off(text)),
        Tab("order", "Try: shuffle the words", lambda: shuffled_words(text)),
        Tab("twice", "Order twice?", order_twice),
        *tabs,
        Tab("take", "Take it along", lambda: take_along(text)),
    ]
page_tabs(NAME, *tabs, players=(STEPS,))
