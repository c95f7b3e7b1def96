"""Is this map an explanation? Guests are sent away one after another, in the map's order and in others."""

from attention_core.faithfulness import subjects
from pages.groups.first_screen import HEAD, HEADS, NAME
from pages.groups.inputs import choose_head, draw_guests
from ui.faithfulness import QuestionedMap, question_map
from ui.faithfulness import answer as answer
from ui.faithfulness import draw as draw


def draw_input() -> QuestionedMap:
    """Draw the guests, and the choice of a head; return what becomes of the answer as guests go."""
    party = draw_guests()
    choose_head()
    inputs = party.numbers, party.query, party.names
    return question_map(NAME, HEADS[HEAD.value], "guests", subjects.match3_subject, *inputs)
