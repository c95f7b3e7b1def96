"""What a recurrent network forgets: why was attention needed?"""

import streamlit as st

from attention_core.topics.memory.influence import norms_table
from ui.computed import model_or_none
from ui.memory.attention_gain import FRENCH, MODEL, cure_tab, look_back
from ui.memory.first_screen import compare_lengths, draw_lengths, read_sentence
from ui.memory.networks import NAME, WALK, with_norms
from ui.memory.self_attention import own_states_tab
from ui.memory.word_by_word import fading_tab, gradient_tab, walk_tab
from ui.player import download_table
from ui.skeleton import Tab, page_frame, page_tabs, paragraph
from ui.take_along import take_along
from ui.try_this import try_this

NOTEBOOK = """from attention_core import load
from attention_core.topics.memory.attention_gain import last_state_shares
from attention_core.topics.translate.translation import read_source

source = read_source({text!r})
shares = last_state_shares(load("translator-none", "cpu"), source)
print(dict(zip(source.word_labels, shares.tolist())))
"""

page_frame(
    NAME,
    "Why was attention needed? A recurrent network reads word by word and keeps **one vector**. Nothing can ask for an "
    "earlier word again.",
)
with st.container(key="desk_memory_sentence"):
    text = read_sentence()
beside = compare_lengths(text)
if not model_or_none(MODEL)[1]:
    with beside:
        try_this(NAME, look_back(text))
draw_lengths(text)


def doubts() -> None:
    paragraph(
        "A gradient says what a *small* change of a word would do, not what would happen without the word. A state "
        "whose numbers are near −1 or 1 hardly reacts to a nudge, yet it may still remember. The two networks' word "
        "vectors differ in size: compare how fast the colours fade, not how bright they are."
    )


def export() -> None:
    table = f"{NAME}-gradient-norms.csv"
    download_table("Gradient norms", lambda: norms_table(with_norms(text, both=True)), table, "memory_csv")
    st.code(NOTEBOOK.format(text=text), language="python")


take_along(export)
page_tabs(
    NAME,
    Tab("steps", "Step by step", lambda: walk_tab(text), formerly=("words", "lengths")),
    Tab("cure", "What attention gives back", lambda: cure_tab(text)),
    more=(
        Tab("gradient", "What still matters", lambda: gradient_tab(text)),
        Tab("own", "Looking back at itself", own_states_tab),
        Tab("fading", "How fast a word fades", lambda: fading_tab(text)),
        Tab("doubts", "How far to believe it", doubts),
    ),
    players=(WALK, FRENCH),
)
