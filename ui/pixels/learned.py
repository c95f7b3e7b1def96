"""Attention being learned: a drawing as the moments of the training saw it."""

from __future__ import annotations

import streamlit as st
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.charts import picture, weights_ramp
from attention_core.device import to_array
from attention_core.explain.faithfulness import ink_mask
from attention_core.models import attention_at_snapshot
from attention_core.weights import WeightsError
from ui.chart import draw_chart
from ui.computed import computed
from ui.models import load_snapshots, model_or_stop
from ui.picture_maps import chosen_query
from ui.pixels.drawing import NAME
from ui.state import Field, whole_number

MODEL = "pixel-classifier"
MOMENT = Field(NAME, "snapshot", -1, address="moment", parse=whole_number)


def learning_section(image: Tensor) -> None:
    """Attention being learned: the person's drawing seen by eight moments of the training."""
    try:
        snapshots = load_snapshots(MODEL)
    except WeightsError as error:
        st.info(f"The snapshots of the training are not here. {error}")
        return
    query = chosen_query(to_array(image), NAME)
    steps = sorted(int(name.split(".")[0]) for name in snapshots if name.endswith(".step"))
    MOMENT.among(steps, steps[-1])
    number = st.select_slider(
        "Moment of the training",
        steps,
        format_func=lambda moment: f"batch {int(snapshots[f'{moment}.step']):,}",
        key=MOMENT.key,
        persist_state="session",
    )
    trace = _at_moment(number, image)
    summary = trace.summary(0, ink_mask(image).flatten())
    looks_at = to_array(trace.weights(0, [query])[0]).reshape(28, 28)
    received = to_array(summary.received).reshape(28, 28)
    left, middle, right = st.columns([1, 1, 1], gap="large")
    ink = to_array(image)
    with left:
        st.markdown("**The chosen pixel looks at**")
        ramp = weights_ramp(trace.n_keys, float(looks_at.max()))
        chart = picture(looks_at, ramp, title="weight", size=250, marked=query, outline=ink)
        draw_chart(chart, width="content", alt="Where the chosen pixel looks at this moment")
    with middle:
        st.markdown("**Received on average, over the ink queries**")
        chart = picture(
            received, weights_ramp(trace.n_keys, float(received.max())), title="weight", size=250, outline=ink
        )
        draw_chart(chart, width="content", alt="Attention received at this moment")
    with right:
        st.metric(
            "mean entropy of a row",
            f"{float(summary.entropy.mean()):.1f} bits",
            help="log2(784) = 9.6 bits means looking everywhere alike.",
        )
        st.metric("largest weight", f"{float(summary.largest.max()):.3f}")
        st.caption("From the first batch to the last: the same drawing, the attention parameters of that moment.")


@computed()
def _at_moment(number: int, image: Tensor) -> AttentionTrace:
    return attention_at_snapshot(model_or_stop(MODEL), load_snapshots(MODEL), number, image)[0]
