"""Scores that are trained on demand, and their errors while training."""

from collections.abc import Iterator, Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core.live_training import score_comparison as compare
from pages.scoring.charts import training_chart
from pages.scoring.controls import NAME
from ui.chart import draw_chart
from ui.job_queue import result_on_demand

NOTEWORTHY = 0.03  # difference of two accuracies that is worth a word


def trained_runs(setups: Sequence[compare.ScoreSetup]) -> Sequence[compare.ScoreRun]:
    """Return the runs of setups once a visitor has had them trained; nothing before."""

    def steps() -> Iterator[tuple[float, list[compare.ScoreRun]]]:
        done: list[compare.ScoreRun] = []
        for setup in setups:
            for run in compare.train_score(setup):
                yield (len(done) + len(run.losses) * compare.EVERY / compare.N_STEPS) / len(setups), [*done, run]
            done.append(run)

    return result_on_demand(("trained", *setups), f"Train {len(setups)} networks", f"{NAME}_train", steps) or ()


def draw_curves(panels: Mapping[str, Mapping[str, compare.ScoreRun]]) -> DeltaGenerator:
    """Draw two panels of curves on one scale; return the column beside them."""
    errors = [error for panel in panels.values() for run in panel.values() for error in run.losses]
    limits = min(errors), max(errors)
    *columns, table_column = st.columns(3, gap="medium")
    for (title, panel), column in zip(panels.items(), columns, strict=True):
        with column:
            chart = training_chart({name: run.losses for name, run in panel.items()}, compare.EVERY, limits, title)
            draw_chart(chart, width="content", alt=f"Error while training, {title}")
    return table_column
