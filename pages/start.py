"""Start: what is attention, in one live example, and where do I go?"""

import streamlit as st

from ui.navigation import PAGES, path_of
from ui.skeleton import live, page_frame, paragraph
from ui.start.animations import moving_drawing, moving_words, photograph

WAYS_IN = (
    ("Draw", "ask", "Draw digits in colours, ask a question about them, and see where the network looks."),
    ("Type", "translate", "Type a sentence, watch it being translated, and see at which words the network looks."),
    ("Craft", "vectors", "Make vectors by hand and follow every product, sum and softmax in numbers."),
)
CARDS = 3  # side by side

page_frame(
    "start",
    "Attention lets one thing ask many others: *how much do you matter to me?* The answers become weights, and the "
    "weights mix what the others hand over. Here you watch trained networks do it, live, on your own input.",
)
drawing, words = st.columns([1, 2.4], gap="medium")
with drawing:
    st.markdown("**Move over the drawing.** The framed pixel asks; the pinker a pixel, the more it matters to it.")
    live(moving_drawing)
with words:
    st.markdown("**Watch a translation.** Each French word looks at the English words that it is made of.")
    moving_words()
    for column, (name, page, about) in zip(st.columns(len(WAYS_IN), gap="medium"), WAYS_IN, strict=True):
        entry = next(entry for entry in PAGES if entry.name == page)
        with column:
            st.subheader(name, anchor=False)
            paragraph(about)
            st.page_link(path_of(entry), label=entry.title, icon=":material/arrow_forward:")
st.divider()
st.subheader("The path", anchor=False)
st.markdown("The order tells the story; each page can be entered alone.")
for first in range(1, len(PAGES), CARDS):
    for column, entry in zip(st.columns(CARDS, gap="medium"), PAGES[first : first + CARDS], strict=False):
        with column.container(border=True, height="stretch"):
            photograph(entry)
            st.page_link(path_of(entry), label=f"**{entry.title}**")
            st.caption(entry.question)
