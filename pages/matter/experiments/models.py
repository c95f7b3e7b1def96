"""Can attention be trained first, and then tell another network where to look?"""

from pages.matter import inputs
from pages.matter.inputs import ATTENTION, TWO_PHASES, Judgement

draw_input = inputs.draw_input


def answer(judgement: Judgement) -> str:
    """Say how the second network learned, and what it says."""
    says = f" Of this sentence it says *{judgement.verdict(TWO_PHASES).label}*." if judgement.is_read else ""
    return f"Yes: frozen, it weighs the words from which a second network learns.{says}"


def draw(judgement: Judgement) -> None:
    """Draw both networks."""
    inputs.draw_networks(judgement, {ATTENTION: "attention alone", TWO_PHASES: "the second network"})
