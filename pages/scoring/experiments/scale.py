"""Why divide by √dₖ? Weights of random vectors of any width, with the division and without."""

import math
from typing import NamedTuple

import streamlit as st
from torch import Tensor

from attention_core.attention.wording import percent
from attention_core.live_training import score_comparison as measures
from pages.scoring.charts import scale_chart, weights_chart
from pages.scoring.controls import NAME
from ui.chart import draw_chart
from ui.computed import cached_computation
from ui.lecture.guided.items import GUIDED, REVEALED, STAGE
from ui.state import Field, one_of

D_K = Field(NAME, "d_k", 256, address="dk", parse=one_of(measures.DIMENSIONS))
"""Width of the random vectors whose weights are drawn."""
TITLES = {"variance": "variance of scores", "gradient": "softmax gradient"}


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
    reacts = f" Undivided, weights react less to the scores (gradient {gradient:.2f}, not {usual:.2f})"
    learns = f"{reacts}: a network learns slower."
    shares = f"on average {undivided}, divided only {divided}."
    return f"Larger dot products let one key take all: {shares}{learns * (gradient < usual / 2)}"


def draw(weights: RandomWeights) -> None:
    """Draw the weights, and variance and gradient over the width."""
    weights_column, *chart_columns = st.columns([1.15, 1, 1], gap="medium")
    chart = weights_chart(*(rows.sort(descending=True).values.mean(0).tolist() for rows in weights))
    draw_chart(chart, key="scoring_row", alt="Mean weights of random keys", container=weights_column)
    for (field, title), column in zip(TITLES.items(), chart_columns, strict=True):
        chart = scale_chart(_measured(), field, title)
        draw_chart(chart, key=f"scoring_{field}", alt=title, container=column)


@cached_computation(spinner="Drawing random vectors")
def _measured() -> list[measures.ScaleRow]:
    return measures.measure_scale()
