"""Scores trained while one waits: with and without 1/√d, with and without projections; kept for all visitors."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core.topics.scoring.charts import WITH, WITHOUT, training_chart
from attention_core.topics.scoring.training import (
    EVERY,
    N_STEPS,
    QK,
    RATES,
    WIDTHS,
    ScoreRun,
    ScoreSetup,
    W,
    X,
    train_score,
)
from ui.chart import draw_chart
from ui.glossary import note, paragraph
from ui.layout import figures_table
from ui.queued_result import result_on_demand
from ui.scoring.controls import NAME
from ui.state import Field, one_of, single_choice

RATE = Field(NAME, "rate", RATES[1], address="rate", parse=one_of(RATES))
MATTERS = 0.03  # difference of two accuracies that is worth a word
FORMS = (X, W, QK)
ITSELF, TURNED = "right key: the query itself", "right key: the query, turned by 90°"


def trained_section() -> None:
    """Train scores of several widths with and without the division, and say what it is worth."""
    paragraph("Of six keys one is the query itself, turned by 90°, with noise.")
    rate = single_choice("Learning rate", RATE, RATES)
    runs = _trained([ScoreSetup(d=d, is_scaled=scaled, rate=rate) for scaled, d in product((False, True), WIDTHS)])
    if not runs:
        return
    plain, scaled = runs[: len(WIDTHS)], runs[len(WIDTHS) :]
    panels = {name: {f"d = {run.setup.d}": run for run in some} for name, some in ((WITHOUT, plain), (WITH, scaled))}
    with _curves(panels):
        figures_table(
            ("d", "gradient", "÷ √d", "found", "÷ √d"),
            *(
                (
                    str(d),
                    *(f"{run.gradients[0]:.2f}" for run in pair),
                    *(f"{run.accuracy:.0%}" for run in pair),
                )
                for d, *pair in zip(WIDTHS, plain, scaled, strict=True)
            ),
        )
        helps = scaled[-1].accuracy - plain[-1].accuracy > MATTERS
        divided = f"**Divided, one learning rate serves all widths.** Undivided, d = {WIDTHS[-1]} falls behind."
        st.markdown(divided if helps else "At this rate all widths learn, divided or not. Try a higher one.")
        note("Curves: squared error. The gradient is that of the softmax before training.")


def projections_section() -> None:
    """Train X X^T, X W X^T and Q K^T on a symmetric and on a directed task, and say which can do what."""
    paragraph("Three scores of 256 parameters each learn which of six keys belongs to a query.")
    runs = _trained([ScoreSetup(form, is_turned=turned) for turned, form in product((False, True), FORMS)])
    if not runs:
        return
    itself, turned = runs[: len(FORMS)], runs[len(FORMS) :]
    with _curves({name: dict(zip(FORMS, some, strict=True)) for name, some in ((ITSELF, itself), (TURNED, turned))}):
        figures_table(
            ("found", "itself", "turned", "symmetric"),
            *(
                (form, f"{one.accuracy:.0%}", f"{two.accuracy:.0%}", "yes" if two.asymmetry < MATTERS else "no")
                for form, one, two in zip(FORMS, itself, turned, strict=True)
            ),
        )
        st.markdown(
            "**X Xᵀ is symmetric whatever X learns**: like finds like. To find something else takes projections."
        )
        note("Chance: 17%. Q and K have half the width of X here, so that all are of equal size.")


def _trained(setups: Sequence[ScoreSetup]) -> Sequence[ScoreRun]:
    """Return trainings that are done, or do them when asked to; nothing before."""

    def steps() -> Iterator[tuple[float, list[ScoreRun]]]:
        done: list[ScoreRun] = []
        for setup in setups:
            for run in train_score(setup):
                yield (len(done) + len(run.losses) * EVERY / N_STEPS) / len(setups), [*done, run]
            done.append(run)

    return result_on_demand(("trained", *setups), f"Train {len(setups)} networks", f"{NAME}_train", steps) or ()


def _curves(panels: Mapping[str, Mapping[str, ScoreRun]]) -> DeltaGenerator:
    """Draw two panels of curves on one scale; returns the place beside them."""
    errors = [error for panel in panels.values() for run in panel.values() for error in run.losses]
    limits = min(errors), max(errors)
    *columns, beside = st.columns(3, gap="medium")
    for (title, panel), column in zip(panels.items(), columns, strict=True):
        with column:
            chart = training_chart({name: run.losses for name, run in panel.items()}, EVERY, limits, title)
            draw_chart(chart, width="content", alt=f"Error while training, {title}")
    return beside
