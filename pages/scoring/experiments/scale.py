"""Why divide by √dₖ? Weights of random vectors, and scores that are trained, with the division and without."""

import math
from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import streamlit as st
from torch import Tensor

from attention_core.attention.wording import percent
from attention_core.live_training import score_comparison as measures
from pages.scoring.charts import WITH, WITHOUT, scale_chart, weights_chart
from pages.scoring.controls import NAME
from pages.scoring.training import NOTEWORTHY, draw_curves, trained_runs
from ui.chart import draw_chart
from ui.computed import cached_computation
from ui.labels import note
from ui.layout import figures_table
from ui.lecture.guided.items import GUIDED, REVEALED, STAGE
from ui.lecture.mode import LECTURE
from ui.state import Field, one_of, single_choice

D_K = Field(NAME, "d_k", 256, address="dk", parse=one_of(measures.DIMENSIONS))
"""Width of the random vectors whose weights are drawn."""
RATE = Field(NAME, "rate", measures.RATES[1], address="rate", parse=one_of(measures.RATES))
"""How fast scores are trained."""
TITLES = {"variance": "variance of the scores", "gradient": "how weights react"}


class RandomWeights(NamedTuple):
    """The weights of 512 random queries over eight random keys, (512, 8) each."""

    undivided: Tensor
    divided: Tensor


def draw_input() -> RandomWeights:
    """Draw the width of the vectors; return weights of such vectors."""
    d_k = D_K.widget(st.select_slider, "Numbers in a vector, dₖ", measures.DIMENSIONS)
    raw = measures.random_scores(d_k)
    return RandomWeights(raw.softmax(-1), (raw / math.sqrt(d_k)).softmax(-1))


def answer(weights: RandomWeights) -> str:
    """Say what the heaviest key takes on average; not before a guided lecture has revealed its own answer."""
    if GUIDED.value and STAGE.value != REVEALED:
        return ""
    undivided, divided = (f"**{percent(float(rows.amax(1).mean()))}**" for rows in weights)
    gradient, usual = (float(measures.softmax_jacobian_norm(rows).mean()) for rows in weights)
    learns = f" Undivided, weights hardly react (gradient {gradient:.2f}, not {usual:.2f}): a network learns slower."
    shares = f"on average {undivided}; divided, {divided}."
    return f"Larger dot products let one key take all: {shares}{learns * (gradient < usual / 2)}"


def draw(weights: RandomWeights) -> None:
    """Draw the weights, variance and gradient over the width, and on a desk what the division is worth in training."""
    weights_column, *chart_columns = st.columns([1.15, 1, 1], gap="medium")
    chart = weights_chart(*(rows.sort(descending=True).values.mean(0).tolist() for rows in weights))
    draw_chart(chart, key="scoring_row", alt="Mean weights of random keys", container=weights_column)
    for (field, title), column in zip(TITLES.items(), chart_columns, strict=True):
        chart = scale_chart(_measured(), field, title)
        draw_chart(chart, key=f"scoring_{field}", alt=title, container=column)
    if not LECTURE.value:
        _train()


@cached_computation(spinner="Drawing random vectors")
def _measured() -> list[measures.ScaleRow]:
    return measures.measure_scale()


def _train() -> None:
    """Draw a button that trains scores of each width, then their errors and what they find."""
    st.markdown("**Does it help to train?** One of six keys is the query, turned by 90°, with noise.")
    rate, widths = single_choice("Learning rate", RATE, measures.RATES), measures.WIDTHS
    setups = [measures.ScoreSetup(d=d, is_scaled=scaled, rate=rate) for scaled, d in product((False, True), widths)]
    if not (runs := trained_runs(setups)):
        return
    plain, scaled = runs[: len(widths)], runs[len(widths) :]
    accuracies, divided = ({run.setup.d: run.accuracy for run in half} for half in (plain, scaled))
    st.markdown(worth_of_dividing(accuracies, divided, rate))
    named = {WITHOUT: plain, WITH: scaled}
    with draw_curves({name: {f"d = {run.setup.d}": run for run in half} for name, half in named.items()}):
        figures_table(
            ("d", "found", "÷ √d"),
            *(
                [str(d), *(percent(run.accuracy) for run in pair)]
                for d, *pair in zip(widths, plain, scaled, strict=True)
            ),
        )
        note("Curves: squared error.")


def worth_of_dividing(plain: Mapping[int, float], scaled: Mapping[int, float], rate: float) -> str:
    """Return a sentence: at which widths the division changes the accuracy, given by width without and with it."""
    gains = {d: scaled[d] - plain[d] for d in plain}
    changed = {
        "more": [str(d) for d, gain in gains.items() if gain > NOTEWORTHY],
        "less": [str(d) for d, gain in gains.items() if gain < -NOTEWORTHY],
    }
    clauses = [f"{direction} at d = {', '.join(widths)}" for direction, widths in changed.items() if widths]
    if not clauses:
        higher = " Try a higher learning rate." if rate < max(measures.RATES) else ""
        return f"Divided or not, about as much is found at every width.{higher}"
    same = "" if sum(map(len, changed.values())) == len(gains) else " At the other widths about as much."
    return f"**Divided, it finds {' and '.join(clauses)}.**{same}"
