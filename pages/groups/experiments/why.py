"""What do two keys at once cost? What there is to try, and how far layers of single keys come without them."""

from functools import partial

import streamlit as st

from attention_core.attention.types import Role
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import GREY, ROLE_COLOURS
from pages.groups.first_screen import HEAD_WORDS, LARGER, NETWORKS, NEW_LOCKS, NO_KEY, STACKS
from pages.groups.inputs import Party, draw_guests
from ui.chart import note_picture
from ui.computed import card_or_empty
from ui.labels import note, paragraph
from ui.layout import bar_rows, section

ALL_NETWORKS = {HEAD_WORDS["pairs"]: NETWORKS[HEAD_WORDS["pairs"]], LARGER: STACKS[LARGER]} | NETWORKS
SCORE = r"""
Two keys are scored by their product:

$$s_{ijl} = \frac{1}{\sqrt{d_k}} \sum_h q_{ih}\, k_{jh}\, k_{lh}$$
"""


def draw_input() -> Party:
    """Draw the guests."""
    return draw_guests(asks_for_lock=False)


def answer(party: Party) -> str:
    """Say how much there is to try."""
    n = len(party.numbers)
    return f"Each of {n} guests has {n - 1} single keys to try, but {(n - 1) * (n - 2) // 2:,} pairs of keys."


def draw(_: Party) -> None:
    """Draw how often each network is right of new locks, what it has learned for that, and how three are scored."""
    cards = {name: card_or_empty(file) for name, file in ALL_NETWORKS.items()}
    first = next(iter(cards.values()))
    shares = {NO_KEY: first.get("majority_share", 0.0)}
    shares |= {name: card.get("test_accuracy", 0.0) for name, card in cards.items()}
    title = NEW_LOCKS.format(first.get("test_numbers", 0))
    left, right = st.columns([1.4, 1], gap="large", vertical_alignment="center")
    with left, st.container(key="groups_bars"):
        section(title)
        note_picture(partial(bar_table, [*shares], {title: [*shares.values()]}, [ROLE_COLOURS[Role.CONTEXT]]), title)
        colours = dict.fromkeys(shares, ROLE_COLOURS[Role.QUERY]) | {NO_KEY: GREY}
        st.html(bar_rows((network, share, colours[network]) for network, share in shares.items()))
    head, larger, deep = (cards[name].get("parameters", 0) for name in (HEAD_WORDS["pairs"], *STACKS))
    with right:
        note(
            f"One training each, on as many parties. Learned numbers: heads {head:,}, layers {larger:,} and {deep:,}. "
            "The weights of two layers do not show how they do it."
        )
        paragraph(SCORE)
