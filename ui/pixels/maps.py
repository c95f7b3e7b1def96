"""Maps of where pixels look: one query's row and column, and averages over the whole matrix."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st
import torch

from attention_core.attention.trace import AttentionTrace
from attention_core.charts import Ramp, picture, signed_ramp
from attention_core.charts.palette import VIRIDIS
from attention_core.device import to_array
from attention_core.topics.pixels.split import product_means
from ui.chart import draw_chart
from ui.labels import number
from ui.pixels.drawing import NAME, ramp_of
from ui.skeleton import note, say
from ui.state import Field, choice, named

SIZE = 250
WEIGHTS, SCORES, PRODUCT = "the weights A", "the scaled scores", "Q Kᵀ itself"
AVERAGED = Field(NAME, "averaged", WEIGHTS, address="average", **named(weights=WEIGHTS, scores=SCORES, product=PRODUCT))
QUERIES_ONLY = Field(NAME, "ink_only", False, address="ink")


class Map(NamedTuple):
    title: str  # what it is
    symbol: str  # exactly what is averaged, Markdown
    values: np.ndarray  # (n,)
    ramp: Ramp
    unit: str  # of a value
    words: str  # one sentence below it


def query_maps(trace: AttentionTrace, query: int, image: np.ndarray) -> None:
    row = to_array(trace.weights(0, [query])[0])
    column = to_array(trace.weights(0, cols=[query])[:, 0])
    ramp = ramp_of(trace, row, column)
    looks = (("looks_at", "This pixel looks at", "row", row), ("looked_at", "Looks at this pixel", "column", column))
    for place, (key, title, line, weights) in zip(st.columns(2), looks, strict=True):
        with place, st.container(key=f"{NAME}_{key}"):
            st.markdown(f"**{title}**, {line} {query + 1} of A")
            words = f"its {line} of the weights; sums to {number(weights.sum())}"
            _draw(Map(title, "", weights, ramp, "weight", words), query, image)
            st.caption(words)


def whole_maps(trace: AttentionTrace, query: int, image: np.ndarray) -> None:
    """Draw averages over the whole matrix: over the columns, over the rows, of what the visitor chooses."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        averaged = choice("Average", AVERAGED, (WEIGHTS, SCORES, PRODUCT), wrap=True)
        ink_only = averaged == WEIGHTS and QUERIES_ONLY.widget(
            st.toggle, "Average over ink queries only", help="Most queries are background."
        )
    maps = _of_weights(trace, image, ink_only) if averaged == WEIGHTS else _of_scores(trace, averaged)
    for column, one in zip(st.columns(3), maps, strict=False):
        with column:
            say(f"**{one.title}**  \n{one.symbol}")
            _draw(one, query, image)
            note(one.words)


def _draw(one: Map, query: int, image: np.ndarray) -> None:
    chart = picture(one.values.reshape(image.shape), one.ramp, title=one.unit, size=SIZE, marked=query, outline=image)
    draw_chart(chart, width="content", alt=f"{one.title}: 28 x 28 map")


def _of_weights(trace: AttentionTrace, image: np.ndarray, ink_only: bool) -> Sequence[Map]:
    queries = torch.from_numpy(image.flatten() > 0.3) if ink_only else None
    summary = trace.summary(0, queries if queries is None or queries.any() else None)
    received, means, entropy = (to_array(part) for part in (summary.received, summary.score_row_mean, summary.entropy))
    who = "over the ink queries" if ink_only else "over all queries"
    column = Map(
        "Column attention",
        f"received on average, {who}",
        received,
        ramp_of(trace, received),
        "weight",
        "Bright pixels are looked at by many.",
    )
    if not trace.has_softmax:
        words = "Without softmax a row sums to anything: some pixels take much, others take away."
        row = Map("Row attention", "mean of each row of the weights", means, signed_ramp(means), "weight", words)
        return column, row
    most = float(np.log2(trace.n_keys))
    return (
        column,
        Map(
            "Row attention: mean score",
            "mean of each row of the scaled scores",
            means,
            signed_ramp(means),
            "score",
            "The softmax ignores exactly this: a constant added to a row changes none of its weights. "
            "After the softmax the row mean is 1/784 everywhere.",
        ),
        Map(
            "Row attention: entropy",
            "of each row of the weights, in bits",
            entropy,
            Ramp(VIRIDIS[::-1], float(entropy.min()), most),
            "bits",
            f"Bright: looks narrowly. Dark: looks everywhere alike (log2 {trace.n_keys} = {most:.1f} bits).",
        ),
    )


def _of_scores(trace: AttentionTrace, averaged: str) -> Sequence[Map]:
    means = product_means(trace)
    factor = 1.0 if averaged == PRODUCT else trace.score.dot_factor(trace.key.shape[-1])
    what = "Q Kᵀ, before scale and softmax" if averaged == PRODUCT else "the scaled scores, before the softmax"
    column, row = (to_array(part * factor) for part in means)
    return (
        Map(
            "Column attention: which pixels are paid attention to",
            f"mean of each column of {what}",
            column,
            signed_ramp(column),
            "score",
            "Warm: the average query scores this pixel above 0. The softmax compares within rows, so that a mean of "
            "scores is no share of attention.",
        ),
        Map(
            "Row attention: which pixels pay attention",
            f"mean of each row of {what}",
            row,
            signed_ramp(row),
            "score",
            "Warm: this pixel scores the average key above 0. The softmax removes exactly this mean.",
        ),
    )
