"""How much of the work attention does: the notes' layer beside controls that do not choose where to look."""

from __future__ import annotations

import streamlit as st

from attention_core.topics.pixels.worth import Worth, verdict
from ui.layout import figures_table, section
from ui.models import card_or_empty
from ui.pixels.layers import GUIDED, INK_ONLY, NO_SOFTMAX, PLAIN

ROWS = {
    PLAIN: ("plain layer: ink and position", "softmax(Q Kᵀ / √d)"),
    INK_ONLY: ("plain layer: ink only", "softmax(Q Kᵀ / √d)"),
    NO_SOFTMAX: ("plain layer, without softmax", "Q Kᵀ / 784"),
    "pixel-notes-self": ("control: each pixel looks at itself", "A = I"),
    "pixel-notes-uniform": ("control: all look at all alike", "A = 1/784"),
    "pixel-notes-alone": ("control: the network alone", "none"),
    GUIDED: ("the layer with a head start, values without ink", "softmax(Q Kᵀ / √d)"),
}


def worth_section() -> None:
    """Draw how well each layer and each control reads, and say what that tells about attention."""
    cards = {name: card for name in ROWS if "test_accuracy" in (card := card_or_empty(name))}
    if not {PLAIN, "pixel-notes-alone"} <= set(cards):
        return
    section("How much of the work did attention do?")
    strokes = {name: card["held_out_stroke_accuracy"] for name, card in cards.items()}
    figures_table(
        ("what collects", "weights", "test digits", "pen digits", "test digits, its weights made uniform"),
        *(
            (
                *ROWS[name],
                f"{card['test_accuracy']:.1%}",
                f"{strokes[name]:.1%}",
                f"{card['test_accuracy_with_uniform_attention']:.1%}"
                if "test_accuracy_with_uniform_attention" in card
                else "",
            )
            for name, card in cards.items()
        ),
    )
    st.markdown(verdict({name: Worth.of(card) for name, card in cards.items()}))
    st.caption(
        "All are trained alike, each on its own, on the same digits, with a feed-forward network of 256 hidden units "
        "on top. Laid end to end, what 784 pixels collect keeps its place, so that the network on top can read the "
        "drawing past the attention: with A = I it is no more than the network alone. With uniform weights it would "
        "read one vector 784 times, the mean of the drawing: beside that every attention looks good, and it flatters."
    )
