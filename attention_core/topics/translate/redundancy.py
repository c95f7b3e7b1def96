"""Is the order of words learned twice, by the states and by attention? One thing is left out at a time."""

from typing import NamedTuple

from attention_core.files import find_file, written_figures

COMMITTED = find_file("benchmarks/results/redundancy.json")

WITHOUT = {
    "order": "the order of the English words, which are shuffled",
    "recurrence": "neighbours in the keys: every piece is read alone",
    "choice": "chosen weights: all are equal",
    "choice_trained": "chosen weights, trained so",
    "attention_trained": "attention, trained so",
    "positions": "positions",
    "encoder": "attention among the English pieces",
    "cross": "attention to the English",
}
"""What is left out, in words."""


class Cost(NamedTuple):
    """What a translator is worth with something left out."""

    model: str  # "additive" or "transformer"
    without: str  # what is left out, one of WITHOUT; "" = nothing
    bleu: float  # over all sentences
    bleu_long: float  # over those of twelve words and more


def committed_costs() -> tuple[list[Cost], int]:
    """Return the figures that `python -m benchmarks.redundancy` wrote and how many sentences; none if it is missing."""
    found = written_figures(COMMITTED)
    if found is None:
        return [], 0
    return [Cost(**row) for row in found["rows"]], found["n"]
