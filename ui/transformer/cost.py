"""What n costs: measured beforehand for display, and on this machine when asked."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core.bounds import COST_SECONDS
from attention_core.topics.transformer import cost
from attention_core.topics.transformer.charts import cost_chart
from attention_core.topics.transformer.cost import CostRow
from ui.chart import draw_chart
from ui.glossary import explain, note
from ui.heavy import heavy
from ui.layout import figures_table
from ui.state import Field
from ui.transformer.first_screen import NAME

MEASURED: Field[list[CostRow]] = Field(NAME, "cost_rows", list)
CHARTS = {"milliseconds": "Time of one layer", "megabytes": "Memory of one layer"}


def cost_of_length(n: int) -> None:
    """Draw time and memory over n beside the expected slopes, and count what a sentence of n costs."""
    st.markdown(
        "A recurrent layer takes n steps, and each waits for the one before. Attention compares all n × n pairs at "
        "once, without waiting. Fused attention computes the same without ever holding the n × n matrix."
    )
    figures_table(
        (f"a sentence of n = {n} pieces, d = 192", "multiplications", "steps that wait for each other", "longest path"),
        *cost.layer_costs(n),
    )
    cheaper = "fewer" if n < 192 else "more"
    note(
        f"After table 1 of Vaswani et al. 2017. While n is below d, as in sentences, attention even does {cheaper} "
        "multiplications. The path is how many steps apart two words are at most: what a gradient must survive."
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        asked = st.button("Measure on this machine", key="transformer_measure", icon=":material/timer:")
        place = st.empty()
    if asked:
        _measure(place)
    before = cost.committed()
    rows = MEASURED.value or before.rows
    if not rows:
        st.info("No figures were measured beforehand: `python -m benchmarks.cost` makes them.")
        return
    for column, (quantity, title) in zip(st.columns(2, gap="large"), CHARTS.items(), strict=True):
        column.markdown(f"**{title}**")
        words = f"{title} over n on log axes, expected slopes dashed"
        draw_chart(cost_chart(rows, quantity), key=f"transformer_{quantity}", alt=words, on=column)
        words = _slopes(rows, quantity)
        column.caption(words, help=explain(words))
    beforehand = f"Measured beforehand on one slow core, torch {before.torch}, {before.when}."
    left_out = sum(row.milliseconds is None for row in rows)
    st.caption(
        f"{'Just measured here.' if MEASURED.value else beforehand} Forward passes of width 192 on one thread, "
        "processor time, median; dashed: the expected slope through the largest n. Attention without its projections, "
        "which grow with n as everything else does. Memory: most that was held at one moment, inputs not counted."
        + (f" {left_out} of {len(rows)} were left out: too slow or too large for a visit." if left_out else "")
    )


def _measure(place: DeltaGenerator) -> None:
    bar = place.progress(0.0, text="Warming up")
    rows = []
    with heavy():
        for progress in cost.measure_all(most_seconds=COST_SECONDS.most):
            bar.progress(progress.share, text=progress.words)
            rows.append(progress.row)
    place.empty()
    MEASURED.value = rows


def _slopes(rows: list[CostRow], quantity: str) -> str:
    slopes = {way: cost.fitted_slope(rows, way, quantity) for way in cost.WAYS}
    return "Slope over the largest n: " + ", ".join(
        f"{cost.WAYS[way].title} {slope:.2f} (expected {cost.expected_slope(way, quantity)})"
        for way, slope in slopes.items()
        if slope is not None
    )
