"""One button, one heatmap of the digit model's 784 x 784 weights: as an image, or as a rect for every cell."""

import sys
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[2]))
from attention_core import load
from attention_core.attention.steps import step_of
from attention_core.charts import step_chart
from attention_core.data.drawing import prepare
from attention_core.data.presets import preset_canvas


@st.cache_resource
def weights_step():
    """Return the weights of the model on a seven."""
    return step_of(load("pixel-classifier", "cpu").trace(prepare(preset_canvas(7)).image), "weights")


def rects(matrix: np.ndarray) -> alt.Chart:
    """Draw the matrix as most people would first: a long table, a rect per cell."""
    rows, cols = np.divmod(np.arange(matrix.size), matrix.shape[1])
    frame = pd.DataFrame({"key": cols, "query": rows, "weight": matrix.ravel()})
    return (
        alt.Chart(frame)
        .mark_rect()
        .encode(x=alt.X("key:O"), y=alt.Y("query:O"), color=alt.Color("weight:Q", scale=alt.Scale(scheme="viridis")))
        .properties(width=500, height=500)
    )


step = weights_step()
kind = st.query_params.get("kind", "image")
if st.button("Draw", key="draw"):
    chart = step_chart(step, size=500) if kind == "image" else rects(step.value().numpy())
    st.altair_chart(chart, width="content")
