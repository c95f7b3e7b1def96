"""Sections of More: a pair's two ways, three pixels among 784, a weighted average of values."""

import numpy as np
import streamlit as st
import torch

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role
from attention_core.bounds import as_markdown
from attention_core.charts import matrix_chart, signed_ramp
from attention_core.data.drawing import prepare
from attention_core.data.presets import preset_canvas
from attention_core.device import to_array
from attention_core.topics.vectors import Problem
from attention_core.topics.vectors.charts import FONT_SIZE, hull_chart
from attention_core.topics.vectors.presets import spread_pixels
from ui.chart import draw_chart
from ui.digits import read_image
from ui.labels import number
from ui.vectors.cell import chosen_cell

DIGIT, LAYER = 7, "pixel-notes"
"""What Draw a digit opens with."""
SIZE = 230


def both_ways_section(problem: Problem, trace: AttentionTrace) -> None:
    """Compare a pair's two scores, S_ij with S_ji, with and without projections."""
    if problem.key_table != "X":
        st.caption("Here the rows of X do not ask each other. Choose another example.")
        return
    scores, inputs = to_array(step_of(trace, "scores").value()), problem.tables["X"]
    axis, other = trace.story.query_axis, trace.story.key_axis
    row, column = chosen_cell(step_of(trace, "scores"))
    asks, asked = as_markdown(axis.labels[row]), as_markdown(axis.labels[column])
    there, back = scores[row, column], scores[column, row]
    if row != column:
        one, other_way = number(there, ".3g"), number(back, ".3g")
        st.markdown(f"{asks} scores {asked} **{one}**, and {asked} scores {asks} **{other_way}**.")
    plain = inputs @ inputs.T
    ramp = signed_ramp(np.array([plain, scores]))
    look = {"size": SIZE, "marked_row": row, "marked_col": column, "font_size": FONT_SIZE}
    matrices = (
        ("X Xᵀ: no projections", plain, "Always symmetric: x · y = y · x.", ramp),
        ("S: queries and keys", scores, "A pair's two ways may differ.", ramp),
        ("S − Sᵀ", scores - scores.T, "What projections add: who looks at whom.", None),
    )
    for (title, values, words, colours), place in zip(matrices, st.columns(3, gap="medium"), strict=True):
        with place:
            st.markdown(f"**{title}**")
            chart = matrix_chart(values, axis, other, Role.SCORES, ramp=colours, **look)
            draw_chart(chart, width="content", alt=f"{title}. {words}")
            st.caption(words)


def pixels_section() -> None:
    """Draw nine of a digit's 784 x 784 scores, with links to all of each pixel."""
    image = prepare(preset_canvas(DIGIT)).image
    places = spread_pixels(image)
    trace = read_image(LAYER, torch.from_numpy(image)).traces[0]
    axis = Axis("pixels", [f"pixel {place + 1}" for place in places])
    picture, words = st.columns(2, gap="large", vertical_alignment="center")
    with picture:
        scores = to_array(trace.scores(0, places))[:, places]
        chart = matrix_chart(scores, axis, axis, Role.SCORES, title="score", size=300, font_size=FONT_SIZE)
        draw_chart(chart, width="content", alt="The scores of three pixels of a drawn digit with each other")
    with words:
        st.markdown(f"A drawing has 784 pixels, so 784 × 784 pairs. Here are nine of a {DIGIT}. All 784 of one pixel:")
        for place, label in zip(places, axis.labels, strict=True):
            st.page_link(
                "pages/pixels.py",
                label=f"{label}: row {place // 28 + 1}, column {place % 28 + 1}",
                query_params={"pixel": str(place), "step": "weights"},
                icon=":material/arrow_forward:",
            )


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
