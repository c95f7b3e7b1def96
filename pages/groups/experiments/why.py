"""What do two keys at once cost? What there is to try, and how far layers of single keys come without them."""

from functools import partial
from operator import eq
from typing import NamedTuple

import streamlit as st

from attention_core.attention.types import Role
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import GREY, ROLE_COLOURS
from attention_core.data.match3 import matching_pairs
from attention_core.models.match3_stack import Match3Stack
from pages.groups.first_screen import HEAD_WORDS, LARGER, NETWORKS, NO_KEY, STACKS, TWICE
from pages.groups.guests import guests_of
from pages.groups.inputs import Party, draw_guests
from ui.chart import note_picture
from ui.computed import by_model, card_or_empty
from ui.labels import note, paragraph
from ui.layout import bar_rows, section

ALL_NETWORKS = {HEAD_WORDS["pairs"]: NETWORKS[HEAD_WORDS["pairs"]], LARGER: STACKS[LARGER]} | NETWORKS
SCORE = r"""
The query scores the product of two keys, which may change places:
$s_{ijl} = \frac{1}{\sqrt{d_k}} \sum_h q_{ih}\, k_{jh}\, k_{lh}$.
"""
_finds_pairs = by_model(Match3Stack.finds_pairs)


class Judged(NamedTuple):
    """How often networks are right, by their names for people."""

    party: Party
    new_locks: dict[str, float]  # share of new locks
    these_locks: dict[str, float]  # share of the guests' locks


def draw_input() -> Judged:
    """Draw the guests; return how often all networks are right of them, and of new ones."""
    party = draw_guests(asks_for_lock=False)
    numbers = party.numbers
    can_open = [bool(matching_pairs(numbers, query)) for query in range(len(numbers))]
    opened = {
        HEAD_WORDS[head]: [guest.is_opened for guest in guests_of(trace, numbers, party.names)]
        for head, trace in party.traces.items()
    }
    opened |= {name: _finds_pairs(file, numbers) for name, file in STACKS.items()}
    shares = {name: sum(map(eq, opened[name], can_open)) / len(numbers) for name in ALL_NETWORKS}
    cards = {name: card_or_empty(file) for name, file in ALL_NETWORKS.items()}
    new_locks = {name: card.get("test_accuracy", 0.0) for name, card in cards.items()}
    shut, new_shut = can_open.count(False) / len(numbers), next(iter(cards.values())).get("majority_share", 0.0)
    return Judged(party, {NO_KEY: new_shut} | new_locks, {NO_KEY: shut} | shares)


def answer(judged: Judged) -> str:
    """Say how much there is to try."""
    n = len(judged.party.numbers)
    return f"Each of {n} guests has {n - 1} single keys to try, but {(n - 1) * (n - 2) // 2:,} pairs of keys."


def draw(judged: Judged) -> None:
    """Draw how often each network is right, of new locks and of these guests', and how three are scored at once."""
    card = card_or_empty(STACKS[TWICE])
    names = f"{card.get('test_numbers', 0):,} new locks", f"these {len(judged.party.numbers)} locks"
    for column, name, shares in zip(st.columns(2, gap="large"), names, judged[1:], strict=True):
        with column:
            section(f"Judged rightly, of {name}")
            drawing = partial(bar_table, [*shares], {name: [*shares.values()]}, [ROLE_COLOURS[Role.CONTEXT]])
            note_picture(drawing, f"Judged rightly, of {name}")
            colours = dict.fromkeys(shares, ROLE_COLOURS[Role.QUERY]) | {NO_KEY: GREY}
            st.html(bar_rows((network, share, colours[network]) for network, share in shares.items()))
    head, larger, deep = (
        card_or_empty(ALL_NETWORKS[name]).get("parameters", 0) for name in (HEAD_WORDS["pairs"], *STACKS)
    )
    note(
        f"One training each, on as many parties of eight. Parameters: heads {head:,}, layers {larger:,} "
        f"and {deep:,}. How two layers do it, their weights do not show."
    )
    paragraph(SCORE)
