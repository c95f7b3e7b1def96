"""Can attention be trained first, and then tell another network where to look?"""

from pages.matter import inputs
from pages.matter.inputs import ATTENTION, TWO_PHASES, Judgement

CALLED = {ATTENTION: "attention alone", TWO_PHASES: "the second network"}
draw_input = inputs.draw_input


def answer(judgement: Judgement) -> str:
    """Say how the second network learned, and what both say."""
    verdicts = inputs.describe_verdicts(judgement, CALLED)
    return f"Yes: frozen, it weighs the words from which a second network learns; {verdicts}."


def draw(judgement: Judgement) -> None:
    """Draw both networks."""
    inputs.draw_networks(judgement, CALLED)
