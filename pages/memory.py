"""What a recurrent network forgets: why was attention needed?"""

import streamlit as st

from attention_core.topics.memory.influence import norms_table
from ui.layout import attention_roles, section
from ui.memory.attention_gain import FRENCH, cure_tab
from ui.memory.first_screen import NAME, NOTEBOOK, READING, WALK, end_section, memories_of, read_sentence, with_norms
from ui.memory.self_attention import own_states_tab
from ui.memory.word_by_word import fading_tab, gradient_tab, length_tab, walk_tab
from ui.player import download_table
from ui.skeleton import Tab, page_frame, page_tabs, paragraph

page_frame(
    NAME,
    "Why was attention needed? A recurrent network reads once, word by word, and keeps *one* vector of everything.",
)
attention_roles(
    "there is none. Nothing can ask for an earlier word, and that is the problem",
    "there is none. A word that was read is never looked at again",
    "the state, which must carry everything on its own",
    here="There is no query here: nothing can ask for an earlier word. That is the problem.",
    try_this="Press <i>Twenty-eight words</i>: the plain RNN keeps less than 1% of each of the first ten words.",
)

ask, answer = st.columns([1, 1.25], gap="large")
with ask:
    section("Read")
    text = read_sentence()
both = READING.value == "bidirectional"
with answer:
    section("What is left at the end")
    memories = memories_of(text, both)
    end_section(memories, both)


def doubts() -> None:
    paragraph(
        "A gradient says what a *small* change of a word would do, not what would happen without the word. A state "
        "whose numbers are near −1 or 1 hardly reacts to a nudge, yet it may still remember. Both networks were "
        "trained on the same sentences, but their word vectors differ in size: compare how fast the colours fade, not "
        "how bright they are, or choose *what is left of the word*."
    )


def take_along() -> None:
    complete = with_norms(memories, text, both=True)
    download_table("Gradient norms", lambda: norms_table(complete), f"{NAME}-gradient-norms.csv", "memory_csv")
    st.code(NOTEBOOK.format(text=text), language="python")


page_tabs(
    NAME,
    Tab("words", "Word by word", lambda: walk_tab(memories, both)),
    Tab("gradient", "What still matters", lambda: gradient_tab(with_norms(memories, text, both), both)),
    Tab("lengths", "Why attention was needed", length_tab),
    Tab("cure", "What attention gives back", lambda: cure_tab(text)),
    Tab("own", "Looking back at itself", own_states_tab),
    Tab("fading", "How fast a word fades", lambda: fading_tab(with_norms(memories, text, both=False))),
    Tab("doubts", "How far to believe it", doubts),
    Tab("take", "Take it along", take_along),
    players=(WALK, FRENCH),
)
