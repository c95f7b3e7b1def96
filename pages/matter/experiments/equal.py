"""Would equal weights do as well? The network beside one that was trained with every weight equal."""

from attention_core.attention.wording import percent
from pages.matter import inputs
from pages.matter.inputs import ATTENTION, AVERAGE, Judgement
from ui.labels import note

draw_input = inputs.draw_input


def answer(_: Judgement) -> str:
    """Say how many sentences each of the two judges right."""
    accuracy, equal = map(inputs.accuracy_of, (ATTENTION, AVERAGE))
    hardly = ": here attention hardly helps" * (abs(accuracy - equal) < inputs.SMALL_CHANGE)
    return f"Trained with them, a network is right on {percent(equal)}, with attention on {percent(accuracy)}{hardly}."


def draw(judgement: Judgement) -> None:
    """Draw both networks, and what their figures are worth."""
    inputs.draw_networks(judgement, {ATTENTION: "attention", AVERAGE: "equal weights"})
    note("Neither learned from these 925 sentences, but their settings were chosen by them.")
