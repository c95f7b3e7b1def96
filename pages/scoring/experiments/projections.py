"""Are projections better than X Xᵀ? Three scores learn to find the query itself, and the query turned."""

from collections.abc import Sequence
from itertools import product

from attention_core.attention.wording import percent
from attention_core.live_training import score_comparison as compare
from pages.scoring.training import NOTEWORTHY, draw_curves, trained_runs
from ui.labels import note
from ui.layout import figures_table

FORMS = (compare.X, compare.W, compare.QK)
ITSELF, TURNED = "right key: the query itself", "right key: the query, turned by 90°"
Runs = Sequence[compare.ScoreRun]


def draw_input() -> tuple[Runs, Runs]:
    """Draw a button that trains; return the runs of each form on both tasks, empty before."""
    runs = trained_runs([compare.ScoreSetup(form, is_turned=turned) for turned, form in product((False, True), FORMS)])
    return runs[: len(FORMS)], runs[len(FORMS) :]


def answer(pair: tuple[Runs, Runs]) -> str:
    """Say what each finds of turned keys."""
    if not pair[0]:
        return "Train three scores of 256 parameters: which of six keys belongs to a query?"
    accuracies = ", ".join(f"{form} {percent(run.accuracy)}" for form, run in zip(FORMS, pair[1], strict=True))
    return f"Where like finds like, no. To find something else, yes: {accuracies}. X Xᵀ is symmetric whatever X learns."


def draw(pair: tuple[Runs, Runs]) -> None:
    """Draw the errors while training, and what is found."""
    if not pair[0]:
        return
    panels = {name: dict(zip(FORMS, runs, strict=True)) for name, runs in zip((ITSELF, TURNED), pair, strict=True)}
    with draw_curves(panels):
        figures_table(
            ("found", "itself", "turned", "symmetric"),
            *(
                [
                    form,
                    *(percent(run.accuracy) for run in of_form),
                    "yes" if of_form[1].asymmetry < NOTEWORTHY else "no",
                ]
                for form, *of_form in zip(FORMS, *pair, strict=True)
            ),
        )
        note("Chance: 17%. Q and K have half the width of X here, so that all are of equal size.")
