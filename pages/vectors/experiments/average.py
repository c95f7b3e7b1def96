"""Is an output more than an average? Contexts inside the hull of the values."""

from functools import partial

import streamlit as st

from attention_core.attention.types import Role
from attention_core.attention.wording import percent
from attention_core.bounds.harmless import as_markdown
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.device import to_array
from pages.vectors import inputs
from pages.vectors.charts import hull_chart
from pages.vectors.inputs import Workbench
from ui.chart import draw_chart, note_picture
from ui.layout import bar_rows

draw_input = inputs.draw_input


def answer(bench: Workbench) -> str:
    """Say of what the chosen query's context is made."""
    if not bench.trace.has_softmax:
        return inputs.SOFTMAX_IS_OFF
    weights, labels = bench.trace.weights(0, [bench.query])[0].tolist(), bench.trace.story.key_axis.labels
    if sum(weights) < 1 - 1e-6:
        return "A row with no weight left is handed zeros."
    shares = " + ".join(
        f"{percent(weight)} {as_markdown(label)}" for weight, label in zip(weights, labels, strict=True)
    )
    hull = "triangle" if len(labels) == 3 else "outline"
    return f"No: {as_markdown(bench.label)} takes {shares}, an **average** that never leaves the values' {hull}."


def draw(bench: Workbench) -> None:
    """Draw the values, their hull and the context, where values have two dimensions."""
    values, trace = to_array(bench.trace.value_of(0)), bench.trace
    if values.shape[1] != 2:
        st.caption(f"Only values of two columns can be drawn as points; these have {values.shape[1]}.")
    elif trace.has_softmax:
        weights, context = to_array(trace.weights(0, [bench.query]))[0], to_array(trace.context())[bench.query]
        picture, shares = st.columns([1.5, 1], gap="large", vertical_alignment="center")
        labels = trace.story.key_axis.labels
        chart = hull_chart(values, context, weights, labels, bench.label)
        draw_chart(chart, width="content", alt="Values and context", container=picture)
        with shares:
            st.markdown(f"**{as_markdown(bench.label)}** takes:")
            colours = [ROLE_COLOURS[Role.WEIGHTS]] * len(labels)
            drawing = partial(bar_table, labels, {"weight": weights.tolist()}, colours[:1])
            note_picture(drawing, f"What {bench.label} takes")
            st.html(bar_rows(zip(labels, weights.tolist(), colours, strict=True)))
    bench.draw_pairs()
