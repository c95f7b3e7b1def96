"""How much of the work attention does, beside controls that were trained alike."""

import math
from typing import Any

import streamlit as st

from ui.computed import card_or_empty
from ui.layout import figures_table
from ui.pixels.first_screen import ALIKE, ALONE, GUIDED, INK_ONLY, NO_SOFTMAX, PENS, PLAIN, SELF
from ui.skeleton import explain

ROWS = {
    PLAIN: ("ink and position", "softmax"),
    INK_ONLY: ("ink only", "softmax"),
    NO_SOFTMAX: ("without softmax", "Q Kᵀ"),
    SELF: ("control: each pixel takes from itself", "identity I"),
    ALIKE: ("control: all take from all alike", "1/784"),
    ALONE: ("control: the network alone", "none"),
    GUIDED: ("with a head start", "softmax"),
}
FIGURES = ("test_accuracy", PENS, "test_accuracy_with_uniform_attention")
N_TEST = 10_000  # test digits that the accuracies are measured on


def worth_section() -> None:
    """Draw every layer's and control's figures as a table, and say what they come to."""
    cards = {name: card for name in ROWS if "test_accuracy" in (card := card_or_empty(name))}
    if not {PLAIN, ALONE} <= set(cards):
        return
    table, words = st.columns([1.45, 1], gap="large")
    with table:
        figures_table(
            ("what collects", "weights", "test digits", "pen digits", "made uniform"),
            *((*ROWS[name], *(_share(card, part) for part in FIGURES)) for name, card in cards.items()),
        )
    with words:
        st.markdown(verdict(*(cards[name]["test_accuracy"] for name in (PLAIN, ALONE))))
        words = (
            "All but the last are trained alike, with a feed-forward network of 256 hidden units on top. Made uniform, "
            "a network reads one vector 784 times, which it never met in training: beside that every attention looks "
            "good."
        )
        st.caption(words, help=explain(words, "softmax"))


def _share(card: dict[str, Any], part: str) -> str:
    return f"{card[part]:.1%}" if card.get(part) is not None else ""


def verdict(plain: float, alone: float) -> str:
    """Say how much work attention did: the plain layer against the network alone, within two standard errors.

    Given are the shares of the test digits that each reads right.
    """
    gain = plain - alone
    figures = f"with attention {plain:.1%} of the test digits are read right, without any {alone:.1%}"
    standard_error = math.sqrt((plain * (1 - plain) + alone * (1 - alone)) / N_TEST)
    if abs(gain) <= 2 * standard_error:
        return (
            f"**Attention did next to none of the work**: {figures}, a difference that chance alone could make. The "
            "network on top sees every pixel's ink in its place in any case, and passes the attention by."
        )
    if gain < 0:
        return (
            f"**Attention cost more than it gave**: {figures}. The network on top sees every pixel's ink in its place "
            "in any case; mixing the pixels before it only blurs them."
        )
    share = gain / (1 - alone)
    part = "a small" if share < 1 / 3 else "a good"
    return (
        f"**Attention did {part} part of the work**: {figures}; it takes away {share:.0%} of the errors. The rest is "
        "done by the network on top, which sees every pixel's ink in its place in any case."
    )
