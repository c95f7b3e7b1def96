"""Does it need its attention? Figures of every layer, and of networks without attention."""

from typing import Any

import streamlit as st

from attention_core.inference import pixel_readout as readout
from pages.pixels import first_screen as screen
from ui.computed import card_or_empty
from ui.digits import compare_accuracies
from ui.labels import explain
from ui.layout import figures_table

NETWORKS = screen.LAYERS | {
    screen.SELF_ONLY: "each pixel from itself, A = I",
    screen.EQUAL_FROM_START: "all from all alike, A = 1/784",
    screen.NO_ATTENTION: "no attention",
}
TEST_ACCURACY = "test_accuracy"
FIGURES = TEST_ACCURACY, "held_out_stroke_accuracy"
"""Figures of a card: of 10,000 test digits, and of 750 drawn with a pen."""


def draw_input() -> dict[str, Any]:
    """Return the cards of the networks that were measured, by their names."""
    return {name: card for name in NETWORKS if TEST_ACCURACY in (card := card_or_empty(name))}


def answer(cards: dict[str, Any]) -> str:
    """Compare the errors of attention and of the fair control."""
    if not {screen.PLAIN, screen.SELF_ONLY} <= set(cards):
        return "The figures of attention and of its fair control are not there."
    control, attention = (
        readout.mean_errors(cards[name], TEST_ACCURACY, 10_000) for name in (screen.SELF_ONLY, screen.PLAIN)
    )
    verdict = compare_accuracies(f"{control / 100}", f"{attention / 100}", are_errors=True)
    return (
        f"Of 10,000 test digits attention misreads {attention:.0f} on average; the fair control, A = I, is "
        f"{verdict}: {control:.0f}."
    )


def draw(cards: dict[str, Any]) -> None:
    """Draw the figures of every layer and control as a table."""
    figures_table(
        ("network", "parameters", "test digits", "pen digits"),
        *(
            (NETWORKS[name], f"{card['parameters']:,}", *(readout.figure_range(card, figure) for figure in FIGURES))
            for name, card in cards.items()
        ),
    )
    if any(len(readout.figures_by_seed(card, TEST_ACCURACY)) > 1 for card in cards.values()):
        st.caption("Ranges: trained with several seeds.", help=explain("softmax"))
