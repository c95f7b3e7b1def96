"""Does dividing by √dₖ help to train? Scores of several widths, trained with the division and without."""

from collections.abc import Mapping, Sequence
from itertools import product

from attention_core.attention.wording import percent
from attention_core.live_training import score_comparison as compare
from pages.scoring.charts import WITH, WITHOUT
from pages.scoring.controls import NAME
from pages.scoring.training import NOTEWORTHY, draw_curves, trained_runs
from ui.labels import note
from ui.layout import figures_table
from ui.state import Field, one_of, single_choice

RATE = Field(NAME, "rate", compare.RATES[1], address="rate", parse=one_of(compare.RATES))
Runs = Sequence[compare.ScoreRun]


def draw_input() -> tuple[Runs, Runs]:
    """Draw the learning rate, and a button that trains; return the runs, of each width, without the division and with.

    Empty before.
    """
    rate = single_choice("Learning rate", RATE, compare.RATES)
    runs = trained_runs(
        [compare.ScoreSetup(d=d, is_scaled=scaled, rate=rate) for scaled, d in product((False, True), compare.WIDTHS)]
    )
    return runs[: len(compare.WIDTHS)], runs[len(compare.WIDTHS) :]


def answer(pair: tuple[Runs, Runs]) -> str:
    """Say what the division is worth."""
    if not pair[0]:
        return "One of six keys is the query, turned by 90°, with noise: train, and see which finds it."
    plain, scaled = ({run.setup.d: run.accuracy for run in runs} for runs in pair)
    return worth_of_dividing(plain, scaled, RATE.value)


def draw(pair: tuple[Runs, Runs]) -> None:
    """Draw the errors while training, and what is found."""
    if not pair[0]:
        return
    named = zip((WITHOUT, WITH), pair, strict=True)
    with draw_curves({name: {f"d = {run.setup.d}": run for run in runs} for name, runs in named}):
        figures_table(
            ("d", "gradient", "÷ √d", "found", "÷ √d"),
            *(
                [str(d), *(f"{run.gradients[0]:.2f}" for run in of_width), *(percent(run.accuracy) for run in of_width)]
                for d, *of_width in zip(compare.WIDTHS, *pair, strict=True)
            ),
        )
        note("Curves: squared error. The gradient is that of the softmax before training.")


def worth_of_dividing(plain: Mapping[int, float], scaled: Mapping[int, float], rate: float) -> str:
    """Return a sentence: at which widths the division changes the accuracy, given by width without and with it."""
    gains = {d: scaled[d] - plain[d] for d in plain}
    changed = {
        "more": [str(d) for d, gain in gains.items() if gain > NOTEWORTHY],
        "less": [str(d) for d, gain in gains.items() if gain < -NOTEWORTHY],
    }
    clauses = [f"{direction} at d = {', '.join(widths)}" for direction, widths in changed.items() if widths]
    if not clauses:
        higher = " Try a higher learning rate." if rate < max(compare.RATES) else ""
        return f"Divided or not, about as much is found at every width.{higher}"
    same = "" if sum(map(len, changed.values())) == len(gains) else " At the other widths about as much."
    return f"**Divided, it finds {' and '.join(clauses)}.**{same}"
