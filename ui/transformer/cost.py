"""What n costs, as measured beforehand."""

import streamlit as st

from attention_core.topics.transformer import cost
from attention_core.topics.transformer.charts import cost_chart
from attention_core.topics.transformer.cost import CostRow
from ui.chart import draw_chart
from ui.layout import figures_table
from ui.skeleton import explain, note

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
    before = cost.committed()
    if not before.rows:
        st.info("No figures were measured beforehand: `python -m benchmarks.cost` makes them.")
        return
    for column, (quantity, title) in zip(st.columns(2, gap="large"), CHARTS.items(), strict=True):
        column.markdown(f"**{title}**")
        words = f"{title} over n on log axes, expected slopes dashed"
        draw_chart(cost_chart(before.rows, quantity), key=f"transformer_{quantity}", alt=words, on=column)
        words = _slopes(before.rows, quantity)
        column.caption(words, help=explain(words))
    st.caption(
        f"Measured beforehand on one slow core, torch {before.torch}, {before.when}. Forward passes of width 192 "
        "on one thread, processor time, median; dashed: the expected slope through the largest n. Attention without "
        "its projections, which grow with n as everything else does. Memory: most that was held at "
        "one moment, inputs not counted."
    )


def _slopes(rows: list[CostRow], quantity: str) -> str:
    slopes = {way: cost.fitted_slope(rows, way, quantity) for way in cost.WAYS}
    return "Slope over the largest n: " + ", ".join(
        f"{cost.WAYS[way].title} {slope:.2f} (expected {cost.expected_slope(way, quantity)})"
        for way, slope in slopes.items()
        if slope is not None
    )
