"""What a recurrent network forgets: why was attention needed?"""

import streamlit as st

from attention_core.data.sentence_presets import REMEMBERED
from attention_core.topics.translate.translation import read_source
from ui.layout import section, who_asks
from ui.memory.lengths import length_section
from ui.memory.parts import (
    download_norms,
    end_section,
    fading_section,
    gradient_section,
    memories_of,
    pieces_remark,
    walk_section,
)
from ui.sentence import sentence_box
from ui.skeleton import page_frame
from ui.walk import walk_interval, walk_to_end

NAME = "memory"
READINGS = {"causal": "forwards only", "bidirectional": "forwards and backwards"}

page_frame(
    NAME,
    "Why was attention needed? A recurrent network reads once, word by word, and keeps *one* vector of everything.",
)
who_asks(
    "nobody, a recurrent network has no query",
    "nobody, a word that was read is never looked at again",
    "the state, which must carry everything on its own",
)

ask, answer = st.columns([1, 1.25], gap="large")
with ask:
    section("Read")
    text = sentence_box(NAME, REMEMBERED, on_change=lambda: walk_to_end(NAME))
    if text is None:
        st.stop()
    reading = st.segmented_control(
        "Reading",
        list(READINGS),
        format_func=READINGS.__getitem__,
        default="causal",
        key=f"{NAME}_reading",
        required=True,
        persist_state="session",
        help="Causal: a state knows what came before it. Bidirectional: a second network reads from the end.",
    )
    by_pieces = st.toggle(
        "Piece by piece",
        key=f"{NAME}_pieces",
        persist_state="session",
        on_change=lambda: walk_to_end(NAME),
        help="The networks read pieces of words from a vocabulary of 8,000; most common words are one piece.",
    )
    try:
        source = read_source(text)
    except ValueError as error:
        st.info(str(error))
        st.stop()
    pieces_remark(source)
both = reading == "bidirectional"
with answer:
    section("What is left at the end")
    memories = memories_of(text, by_pieces)
    end_section(memories, both)


def explore() -> None:
    """Walk through the reading, and see at each state which words still matter to it."""
    section("Word by word")
    at = walk_section(NAME, memories, both)
    st.divider()
    section("How much does each word still matter?")
    st.markdown(
        "The norm of the gradient of state $h_t$ by the word vector $x_s$: how far the state would move if the word "
        "were nudged. One row per state; rest the mouse on a cell to read it, click to walk there."
    )
    gradient_section(NAME, memories, both, at)


st.divider()
st.fragment(explore, run_every=walk_interval(NAME))()
st.divider()
section("How fast does a word fade?")
fading_section(NAME, memories)
st.divider()
section("Why attention was needed")
st.markdown(
    "Without attention the decoder gets the last states and nothing else: 384 numbers for four words or for forty. A "
    "GRU learns to keep the words that carry the meaning, yet every further word has to share those numbers. Attention "
    "hands over *all* states and lets each target word choose (Bahdanau et al. 2015; this chart is their figure 2 for "
    "our models)."
)
length_section(NAME)
with st.expander("How far to believe this"):
    st.markdown(
        "A gradient tells what a *small* change of a word would do, not what removing it would do; a saturated state "
        "answers to nothing and still remembers. The two networks were trained on the same sentences. Their norms "
        "share one colour scale, but their word vectors differ in width and length: compare how the norms fall, or "
        "choose *what is left of the word*."
    )
download_norms(NAME, memories)
