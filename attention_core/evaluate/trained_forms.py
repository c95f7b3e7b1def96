"""Forms of the transformer translator that were trained alike: their figures, without their weights."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from attention_core.files import find_file, read_figures

COMMITTED = find_file("benchmarks/results/transformer_forms.json")
MIN_DIFFERENCE = 1.5  # BLEU; less may be the chance of which 424 sentences are held out
Trainings = Sequence[Mapping[str, Any]]
"""Of one form, a row per seed: "form", "seed", "parameters", "epochs", "test" (BLEU) and "french" of some sentences."""


def trained_forms() -> dict[str, Trainings]:
    """Return the trainings of each form by what differs from the usual one, "", such as "n_heads-1"; {} if missing."""
    rows = read_figures(COMMITTED).get("rows", [])
    return {form: [row for row in rows if row["form"] == form] for form in dict.fromkeys(row["form"] for row in rows)}


def lost_bleu(usual: Trainings, changed: Trainings) -> float | None:
    """Return how much BLEU a change of form costs, on average over seeds; None = no more than chance does.

    Chance is what another seed does to one of both forms, and at least MIN_DIFFERENCE.
    """
    scores = [[row["test"]["bleu"] for row in trainings] for trainings in (usual, changed)]
    lost = mean(scores[0]) - mean(scores[1])
    chance = max(MIN_DIFFERENCE, *(max(of_form) - min(of_form) for of_form in scores))
    return lost if abs(lost) > chance else None
