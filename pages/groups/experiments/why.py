"""What do two keys at once cost? What there is to try and to learn, and how far single keys come without them."""

import itertools
import math

import streamlit as st

from attention_core.attention.types import Role
from attention_core.attention.view.colours import PINK
from attention_core.attention.wording import percent
from attention_core.charts.ramps import GREY, ROLE_COLOURS
from pages.groups.first_screen import HEAD_WORDS, LARGER, NETWORKS, STACKS
from pages.groups.inputs import Party, draw_guests
from ui.computed import card_or_empty
from ui.labels import note
from ui.layout import figures_table

ALL_NETWORKS = {HEAD_WORDS["pairs"]: NETWORKS[HEAD_WORDS["pairs"]], LARGER: STACKS[LARGER]} | NETWORKS
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200" width="600" height="600">'
LINES = f'<g fill="{PINK}" fill-opacity="0.12" stroke="{PINK}" stroke-width="1.2">'


def draw_input() -> Party:
    """Draw the guests."""
    return draw_guests(asks_for_lock=False)


def answer(party: Party) -> str:
    """Say how much there is to try, and to learn."""
    n = len(party.numbers)
    tries = f"{(n - 1) * (n - 2) // 2:,} pairs of keys a guest instead of {n - 1} keys"
    return f"**More to try, no more to learn**: {tries}."


def _draw_tries(n_others: int) -> None:
    """Draw a lock among others twice: a line for each key that is tried, and a triangle for each pair of them."""
    angles = [2 * math.pi * (guest + 0.5) / n_others for guest in range(n_others)]
    seats = [f"{100 + 84 * math.sin(angle):.0f} {100 - 84 * math.cos(angle):.0f}" for angle in angles]
    colours = {seat: GREY for seat in seats} | {"100 100": ROLE_COLOURS[Role.QUERY]}
    circle = '<circle cx="{}" cy="{}" r="9" fill="{}"/>'
    circles = "".join(circle.format(*seat.split(), colour) for seat, colour in colours.items())
    for column, name, n_keys in zip(st.columns(2, gap="medium"), ("keys", "pairs"), (1, 2), strict=True):
        tried = [*itertools.combinations(seats, n_keys)]
        paths = "".join(f'<path d="M100 100 L{" L".join(group)} Z"/>' for group in tried)
        with column:
            st.image(f"{SVG}{LINES}{paths}</g>{circles}</svg>", width="stretch")
            st.markdown(f"{len(tried)} {name}, {len(tried)} scores", text_alignment="center")


def draw(party: Party) -> None:
    """Draw what is tried for one lock, how often each network is right of new locks, and what it has learned."""
    cards = {name: card_or_empty(file) for name, file in ALL_NETWORKS.items()}
    left, beside = st.columns([1, 1.2], gap="large", vertical_alignment="center")
    with left:
        _draw_tries(len(party.numbers) - 1)
    with beside:
        rows = (
            (name, percent(card.get("test_accuracy", 0.0)), f"{card.get('parameters', 0):,}")
            for name, card in cards.items()
        )
        figures_table(("", "locks right", "learned numbers"), *rows)
        with st.container(key="desk_groups_training"):
            note("One training each. The weights of two layers do not show how they do it.")
