"""A section of More: contexts as weighted averages of values, drawn as points."""

import streamlit as st

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.bounds import as_markdown
from attention_core.device import to_array
from attention_core.topics.vectors.charts import hull_chart
from ui.chart import draw_chart
from ui.vectors.problem import chosen_cell


def average_section(trace: AttentionTrace) -> None:
    """Draw contexts inside the hull of two-dimensional values; say so when values have another width."""
    values, queries = to_array(trace.value_of(0)), trace.story.query_axis.labels
    if not trace.has_softmax:
        st.caption("The softmax is off. Switch it on under *Change the rules*.")
        return
    if values.shape[1] != 2:
        st.caption(f"Only values of two columns can be drawn as points; these have {values.shape[1]}.")
        return
    query, _ = chosen_cell(step_of(trace, "context"))
    weights, context = to_array(trace.weights(0, [query]))[0], to_array(trace.context())
    picture, words = st.columns(2, gap="large", vertical_alignment="center")
    with picture:
        chart = hull_chart(values, context, weights, trace.story.key_axis.labels, queries, query)
        draw_chart(chart, width="content", alt="Values as points, contexts inside their hull")
    words.markdown(
        f"Circles are values, diamonds contexts. The wider the line, the harder a value pulls the context of "
        f"**{as_markdown(queries[query])}**. Weights sum to 1, so no context leaves the values' hull."
    )
