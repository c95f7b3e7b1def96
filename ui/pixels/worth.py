"""How much of the work attention does, beside controls that were trained alike."""

import streamlit as st

from attention_core.topics.pixels.seeds import figure_range, mean_errors, of_all_seeds
from ui.computed import card_or_empty
from ui.glossary import explain
from ui.layout import figures_table
from ui.pixels.first_screen import ALIKE, ALONE, LAYERS, PLAIN, SELF

ROWS = LAYERS | {
    SELF: "each pixel from itself, A = I",
    ALIKE: "all from all alike, A = 1/784",
    ALONE: "no attention",
}
FIGURES = {"test_accuracy": 10_000, "held_out_stroke_accuracy": 750}
"""Figures of a card, and of how many digits each."""


def worth_section() -> None:
    """Draw every layer's and control's figures as a table, and say what they come to beside the fair control."""
    cards = {name: card for name in ROWS if "test_accuracy" in (card := card_or_empty(name))}
    if not {PLAIN, SELF} <= set(cards):
        return
    (errors, pen), (own_errors, own_pen) = (
        [mean_errors(cards[name], figure, n) for figure, n in FIGURES.items()] for name in (PLAIN, SELF)
    )
    change, words = errors / own_errors - 1, "fewer" if errors < own_errors else "more"
    st.markdown(
        "**The fair control is A = I**, with as many parameters. Of 10,000 test digits "
        f"it misreads {own_errors:.0f}, attention {errors:.0f}: {abs(change):.0%} {words}. Of 750 pen digits, "
        f"{own_pen:.0f} and {pen:.0f}.",
        help=explain("softmax"),
    )
    figures_table(
        ("network", "parameters", "test digits", "pen digits"),
        *(
            (ROWS[name], f"{card['parameters']:,}", *(figure_range(card, part) for part in FIGURES))
            for name, card in cards.items()
        ),
    )
    again = {name: n for name, card in cards.items() if (n := len(of_all_seeds(card, "test_accuracy"))) > 1}
    if again:
        named = " and ".join(f"*{ROWS[name]}* {n} times" for name, n in again.items())
        st.caption(f"Trained with several seeds: {named}. Errors are means; where figures differ, their range.")
