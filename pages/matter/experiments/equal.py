"""Would equal weights do as well? The network beside one that was trained with every weight equal."""

from attention_core.attention.wording import percent
from pages.matter import inputs
from pages.matter.inputs import ATTENTION, AVERAGE, Judgement

CALLED = {ATTENTION: "attention", AVERAGE: "equal weights"}
draw_input = inputs.draw_input


def answer(judgement: Judgement) -> str:
    """Say how many sentences each of the two judges right, and what they say of this one."""
    accuracies = [inputs.accuracy_of(name) for name in CALLED]
    hardly = "attention hardly helps here" if max(accuracies) - min(accuracies) < inputs.SMALL_CHANGE else "not quite"
    right = " and ".join(map(percent, accuracies))
    return f"Trained on the same, {right} are right: {hardly}; {inputs.describe_verdicts(judgement, CALLED)}."


def draw(judgement: Judgement) -> None:
    """Draw both networks."""
    inputs.draw_networks(judgement, CALLED)
