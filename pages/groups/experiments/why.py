"""What do two keys at once cost? What there is to try and to learn, and how far single keys come without them."""

import streamlit as st

from attention_core.attention.wording import percent
from pages.groups.first_screen import HEAD_WORDS, LARGER, NETWORKS, STACKS
from pages.groups.inputs import Party, draw_guests
from ui.computed import card_or_empty
from ui.labels import note, paragraph
from ui.layout import figures_table

ALL_NETWORKS = {HEAD_WORDS["pairs"]: NETWORKS[HEAD_WORDS["pairs"]], LARGER: STACKS[LARGER]} | NETWORKS
SCORE = r"""
Two keys are scored by their product:

$$s_{ijl} = \frac{1}{\sqrt{d_k}} \sum_h q_{ih}\, k_{jh}\, k_{lh}$$
"""


def draw_input() -> Party:
    """Draw the guests."""
    return draw_guests(asks_for_lock=False)


def answer(party: Party) -> str:
    """Say how much there is to try, and to learn."""
    n = len(party.numbers)
    tries = f"{(n - 1) * (n - 2) // 2:,} pairs of keys a guest instead of {n - 1} keys"
    return f"**More to try, no more to learn**: {tries}."


def draw(_: Party) -> None:
    """Draw how often each network is right of new locks, what it has learned for that, and how three are scored."""
    cards = {name: card_or_empty(file) for name, file in ALL_NETWORKS.items()}
    left, beside = st.columns([2.2, 1], gap="large", vertical_alignment="center")
    with left:
        rows = (
            (name, percent(card.get("test_accuracy", 0.0)), f"{card.get('parameters', 0):,}")
            for name, card in cards.items()
        )
        figures_table(("", "new locks right", "learned numbers"), *rows)
    with beside:
        with st.container(key="desk_groups_training"):
            note("One training each. The weights of two layers do not show how they do it.")
        paragraph(SCORE)
