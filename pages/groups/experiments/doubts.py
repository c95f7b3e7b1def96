"""Is this map an explanation? Guests are sent away one after another, in the map's order and in others."""

from attention_core.faithfulness import subjects
from pages.groups.first_screen import HEAD, HEADS, NAME
from pages.groups.inputs import Party, choose_head, draw_guests
from ui.faithfulness import draw_faithfulness


def draw_input() -> Party:
    """Draw the guests, and the choice of a head."""
    party = draw_guests()
    choose_head()
    return party


def answer(_: Party) -> str:
    """Leave the answer to the drawing, which computes it."""
    return ""


def draw(party: Party) -> None:
    """Draw what becomes of the answer as guests go."""
    inputs = party.numbers, party.query, party.names
    draw_faithfulness(NAME, HEADS[HEAD.value], "guests", subjects.match3_subject, *inputs)
