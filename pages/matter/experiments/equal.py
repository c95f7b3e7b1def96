"""Would equal weights do as well? The network beside one that was trained with every weight equal."""

from pages.matter import inputs
from pages.matter.inputs import ATTENTION, AVERAGE, Judgement

CALLED = {ATTENTION: "attention", AVERAGE: "equal weights"}
draw_input = inputs.draw_input


def answer(judgement: Judgement) -> str:
    """Say whether attention helps, and what both say of this sentence."""
    accuracies = [inputs.accuracy_of(name) for name in CALLED]
    is_close = max(accuracies) - min(accuracies) < inputs.SMALL_CHANGE
    helps = "attention does not help here" if is_close else "attention helps"
    return f"Trained alike, {helps}; {inputs.describe_verdicts(judgement, CALLED)}."


def draw(judgement: Judgement) -> None:
    """Draw both networks."""
    inputs.draw_networks(judgement, CALLED)
