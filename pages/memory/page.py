"""What a recurrent network forgets: why was attention needed?"""

import streamlit as st

from pages.memory import first_screen as screen
from pages.memory import tabs
from ui.faithfulness import faithfulness_tab
from ui.layout import last_on_phone
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import try_this

NOTEBOOK = """from attention_core import load
from attention_core.inference.word_influence import last_state_shares
from attention_core.inference.translation import read_source

source = read_source({text!r})
shares = last_state_shares(load("translator-none", "cpu"), source)
print(dict(zip(source.word_labels, shares.tolist())))
"""


def draw_networks() -> None:
    """Draw what both networks keep, and what stands below."""
    with st.container(key="desk_memory_sentence"):
        text = screen.read_sentence()
    screen.report_missing_network()
    last_on_phone("memory_screen", "memory_short", "memory_wide", "memory_told")
    pair = list(dict.fromkeys((screen.shorter(text), text)))
    with st.container(key="memory_screen"):
        short, long = st.columns([1, 1.55], gap="large")
        with short:
            with st.container(key="memory_short"):
                for sentence in pair[:-1]:
                    screen.draw_readings(sentence, pair)
            screen.draw_lengths(text)
        with long:
            with st.container(key="memory_long"):
                screen.draw_readings(text, pair)
            with st.container(key="memory_told"):
                if not tabs.why_missing():
                    try_this(screen.NAME, tabs.look_back(text))

    take_along(lambda: st.code(NOTEBOOK.format(text=text), language="python"))
    page_tabs(
        screen.NAME,
        Tab("steps", "Step by step", lambda: tabs.walk_tab(text)),
        Tab("cure", "What attention gives back", lambda: tabs.cure_tab(text)),
        more=(
            Tab("own", "Looking back at itself", tabs.self_attention_tab),
            Tab("follows", "What comes after a word", tabs.compare_beginnings),
            Tab("wider", "Would a wider vector do?", lambda: tabs.compare_widths(text)),
            faithfulness_tab(screen.NAME, screen.WITHOUT, "words", tabs.vector_subject, text),
        ),
        players=(screen.WALK, tabs.FRENCH_WALK),
    )


page_frame(
    screen.NAME,
    "A recurrent network keeps **one vector**. It cannot go back to an earlier word. Attention can.",
)
page_body(draw_networks)
