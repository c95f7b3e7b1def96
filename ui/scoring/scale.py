"""Why divide by sqrt(d_k): measured live, for as many keys as the visitor asks for."""

from __future__ import annotations

import math
from dataclasses import astuple

import streamlit as st

from attention_core.charts.scaling import scale_chart, sorted_weights_chart
from attention_core.topics.scoring.scaling import DIMENSIONS, ScaleRow, example_weights, measure_scale
from ui.layout import section

N_KEYS = (4, 16, 64)


@st.cache_data(max_entries=32, show_spinner="Drawing random vectors")
def _measured(n_keys: int, seed: int) -> list[tuple]:
    return [astuple(row) for row in measure_scale(n_queries=8192 // n_keys, n_keys=n_keys, seed=seed)]


def scale_section(name: str) -> None:
    """Draw variance, entropy, largest weight and gradient over d_k, and one query's weights at a chosen d_k."""
    section("Why divide by √dₖ")
    st.markdown(
        "A dot product adds up dₖ products. For random numbers of variance 1 the sum has variance dₖ, so scores grow "
        "with the width alone: the softmax saturates, one key takes all, and its gradient vanishes. "
        "Dividing by √dₖ keeps the variance at 1 for every width."
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        n_keys = st.segmented_control(
            "Keys per query", N_KEYS, default=16, key=f"{name}_n_keys", required=True, persist_state="session"
        )
        d_k = st.select_slider(
            "dₖ of the example", DIMENSIONS, 64, key=f"{name}_d_k", persist_state="session", width=320
        )
        seed = st.number_input("Seed", 0, 9999, 0, key=f"{name}_scale_seed", persist_state="session", width=120)
    rows = [ScaleRow(*row) for row in _measured(n_keys, seed)]
    panels = [
        ("variance", "variance of the scores", None, True),
        ("entropy", "entropy of the weights (bits)", math.log2(n_keys), False),
        ("largest", "largest weight", 1 / n_keys, False),
        ("gradient", "size of the softmax's gradient", None, False),
    ]
    columns = st.columns(2, gap="medium") + st.columns(2, gap="medium")
    for column, (field, title, reference, logarithmic) in zip(columns, panels, strict=True):
        with column:
            st.altair_chart(
                scale_chart(rows, field, title, reference=reference, logarithmic=logarithmic, chosen=d_k),
                key=f"{name}_{field}",
                alt=f"{title} over d_k, with and without the division by its square root",
            )
    without, with_scale = example_weights(d_k, n_keys=n_keys, seed=seed)
    chart, words = st.columns([1.2, 1], gap="large", vertical_alignment="center")
    with chart:
        st.altair_chart(
            sorted_weights_chart(without.tolist(), with_scale.tolist()),
            key=f"{name}_example",
            alt="One query's weights, largest first, with and without the division",
        )
    with words:
        here = {row.scaled: row for row in rows if row.d_k == d_k}
        st.markdown(
            f"One random query at dₖ = {d_k}, {n_keys} keys. Without the division its largest weight is "
            f"**{without[0]:.1%}**, with it **{with_scale[0]:.1%}**.\n\n"
            f"Over {8192 // n_keys:,} queries the variance of q · k is **{here[False].variance:.3g}** "
            f"(with the division {here[True].variance:.3g}) and the gradient's size **{here[False].gradient:.3g}** "
            f"(with it {here[True].gradient:.3g})."
        )
        st.caption(
            "Gradient: the Frobenius norm of the softmax's Jacobian diag(w) − w wᵀ, mean over queries. Dotted: what "
            "uniform weights would give. Source: Vaswani et al. 2017, section 3.2.1."
        )
