"""What one changes in an experiment of the page: the guests' numbers, and whose lock it is."""

from typing import NamedTuple

import streamlit as st

from attention_core import AttentionTrace
from pages.groups import first_screen as screen
from ui.player import export_bar
from ui.state import single_choice
from ui.take_along import take_along


class Party(NamedTuple):
    """The guests, and what both heads make of them."""

    numbers: list[int]
    query: int  # the guest whose lock it is
    traces: dict[str, AttentionTrace]  # by head, with the visitor's changes

    @property
    def names(self) -> tuple[str, ...]:
        """The guests' names."""
        return screen.NAMES[: len(self.numbers)]


def draw_guests(*, asks_for_lock: bool = True) -> Party:
    """Draw the box of the numbers, and perhaps the choice of whose lock it is; return the party."""
    with st.container(key="experiment_input"):
        screen.draw_numbers_box()
    numbers = screen.guest_numbers()
    query = screen.choose_query(numbers) if asks_for_lock else screen.clamp_query(numbers)
    return party_of(numbers, query)


def party_of(numbers: list[int], query: int) -> Party:
    """Return the party of these numbers, and offer its trace."""
    party = Party(numbers, query, screen.heads_as_changed(numbers))
    take_along(lambda: export_bar(party.traces["triples"], screen.NAME, query=query))
    return party


def choose_head() -> str:
    """Draw the choice of a head; return its name."""
    return single_choice("Tries", screen.HEAD, screen.HEAD_WORDS)
