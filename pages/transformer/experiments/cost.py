"""What does attention cost? A sentence of n beside a recurrent loop: operations counted, time and memory measured."""

import streamlit as st

from attention_core.inference.translation import read_source
from pages.transformer import cost
from pages.transformer.charts import cost_chart
from pages.transformer.inputs import draw_sentence
from ui.chart import draw_chart
from ui.layout import figures_table

COSTS = ("multiplications", "steps in a row", "longest path", "one word more: multiplications", "numbers kept for it")
CHARTS = {"milliseconds": "Time", "megabytes": "Memory"}
FIRST_N = 12  # pieces, where no sentence is typed


def draw_input() -> int:
    """Draw the sentence; return its number of pieces."""
    text = draw_sentence()
    return len(read_source(text).ids) if text else FIRST_N


def answer(n: int) -> str:
    """Say how many pairs there are."""
    return f"{n} × {n} = {n * n:,} pairs of pieces, and four times as many at twice the length."


def draw(n: int) -> None:
    """Draw a table of what n costs, and what was measured of other lengths."""
    trained = cost.committed_figures().get("training", {"seconds_of_a_pass": ()})
    task = f"training on {trained.get('sentences', 0):,} sentences "
    figures_table(
        (f"n = {n} pieces, d = 192", "recurrent loop", "self-attention"),
        *zip(COSTS, *cost.layer_costs(n), strict=True),
        *(
            [f"{task * (row == 0)}of {figures['n']}"]
            + [f"{figures[layer]:.1f} s" for layer in ("recurrent", "attention")]
            for row, figures in enumerate(trained["seconds_of_a_pass"])
        ),
    )
    st.caption("One word more: attention is cheaper below n = 191.")
    with st.container(key="desk_transformer_measured"):
        _draw_measured()


def _draw_measured() -> None:
    """Draw time and memory over n beside the expected slopes."""
    before = cost.committed_figures()
    if not before:
        st.info("No figures were measured beforehand.")
        return
    for column, (quantity, title) in zip(st.columns(2, gap="large"), CHARTS.items(), strict=True):
        chart = cost_chart(before["rows"], quantity)
        draw_chart(chart, key=f"transformer_{quantity}", alt=title, container=column)
    st.caption("Processor time of one slow core, without projections. Dashed: expected slopes.")
