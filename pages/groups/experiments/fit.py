"""How do two keys fit one lock? A sum of three numbers as a product of waves."""

from attention_core.data.match3 import MODULUS, matching_pairs
from pages.groups.inputs import Party, draw_guests
from ui.labels import paragraph

SUM_OF_ANGLES = r"""
Each number is an angle. A product of waves adds angles up:
$\cos a\, \cos b\, \cos c = \tfrac14 \cos(a + b + c) + \dots$.
It is largest after full turns.
"""
draw_input = draw_guests


def answer(party: Party) -> str:
    """Say what the numbers of the chosen guest and of who opens their lock add up to."""
    pairs = matching_pairs(party.numbers, party.query)
    if not pairs:
        return f"{party.names[party.query]}'s number and no two others add up to full turns of {MODULUS}."
    terms = [party.numbers[guest] for guest in (party.query, *pairs[0])]
    return f"{' + '.join(map(str, terms))} = {sum(terms)}: full turns of {MODULUS}."


def draw(_: Party) -> None:
    """Write why a product of three waves finds full turns."""
    paragraph(SUM_OF_ANGLES)
