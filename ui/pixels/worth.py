"""How much of the work attention does, beside controls that were trained alike."""

import streamlit as st

from ui.computed import card_or_empty
from ui.layout import figures_table
from ui.pixels.first_screen import ALIKE, ALONE, GUIDED, INK_ONLY, LAYERS, NO_SOFTMAX, PLAIN, SELF
from ui.skeleton import explain

ROWS = LAYERS | {
    SELF: "each pixel takes from itself",
    ALIKE: "all take from all alike",
    ALONE: "no attention",
}
WEIGHTS = {PLAIN: "softmax", INK_ONLY: "softmax", NO_SOFTMAX: "Q Kᵀ", GUIDED: "softmax", SELF: "I", ALIKE: "1/784"}
FIGURES = ("test_accuracy", "held_out_stroke_accuracy")


def worth_section() -> None:
    """Draw every layer's and control's figures as a table, and say what they come to."""
    cards = {name: card for name in ROWS if "test_accuracy" in (card := card_or_empty(name))}
    if not {PLAIN, ALONE} <= set(cards):
        return
    plain, alone = (cards[name]["test_accuracy"] for name in (PLAIN, ALONE))
    st.markdown(
        f"**{plain:.1%} of the test digits are read with attention, {alone:.1%} without.** The network on top sees "
        "every pixel in its place anyway.",
        help=explain("softmax"),
    )
    figures_table(
        ("network", "weights", "test digits", "pen digits"),
        *(
            (ROWS[name], WEIGHTS.get(name, ""), *(f"{card[part]:.1%}" for part in FIGURES))
            for name, card in cards.items()
        ),
    )
