"""Where pixels look: step by step, one of them from all sides, all 784 at once, and while it is being learned."""

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts import picture
from attention_core.data.drawing import Drawing
from attention_core.device import to_array
from attention_core.models import attention_at_snapshot
from attention_core.weights import WeightsError
from ui.chart import draw_chart
from ui.computed import computed, load_snapshots, model_or_stop
from ui.digits import chosen_query, pick_pixel
from ui.labels import said
from ui.layout import section
from ui.pixels.drawing import ABOUT, LAYER, NAME, STEPS, ramp_of, received
from ui.pixels.maps import query_maps
from ui.pixels.worth import worth_section
from ui.player import query_row, show_matrix, show_words
from ui.skeleton import explain
from ui.state import Field, whole_number

GIVEN = 0.8  # correlation above which a map was mostly there at the start
MOMENT = Field(NAME, "snapshot", -1, address="moment", parse=whole_number)


def step_by_step(trace: AttentionTrace, drawing: Drawing) -> None:
    """Draw the stepper and, on one screen, the drawing with the query, the step's formula and its matrix."""
    query = chosen_query(drawing.image, NAME)
    step = STEPS.draw(trace)
    hidden = STEPS.hides(trace, step, query)
    left, right = st.columns([0.82, 1], gap="large")
    with left:
        drawn, hint = st.columns([1, 1.1], vertical_alignment="center")
        with drawn:
            pick_pixel(drawing.image, NAME, size=168)
        with hint:
            row, column = divmod(query, 28)
            st.caption(
                f"The framed pixel is the query: number {query + 1} (row {row + 1}, column {column + 1}). Click "
                "another one. The arrow keys step."
            )
        if not hidden:
            show_words(trace, step, 0, query, int(trace.weights(0, [query])[0].argmax()))
    with right:
        if not hidden:
            show_matrix(step, 0, query, NAME)


def chosen_pixel(trace: AttentionTrace, drawing: Drawing) -> None:
    """Draw where the query looks, who looks at it, and its row in numbers."""
    query = chosen_query(drawing.image, NAME)
    pick, looks = st.columns([1, 3], gap="medium")
    with pick:
        section("The chosen pixel", Role.QUERY)
        pick_pixel(drawing.image, NAME, size=168, key="pick_map")
        st.caption("Click a pixel: it becomes the query.")
    with looks:
        query_maps(trace, query, drawing.image)
        if trace.has_softmax:
            query_row(trace, 0, query)


def learning_section(image: Tensor) -> None:
    """Draw the drawing as eight moments of the training saw it, and what attention was worth in the end."""
    name = LAYER.value
    try:
        snapshots = load_snapshots(name)
    except WeightsError as error:
        st.info(f"The snapshots of the training are not here. {said(error)}")
        return
    query = chosen_query(to_array(image), NAME)
    steps = sorted(int(key.split(".")[0]) for key in snapshots if key.endswith(".step"))
    MOMENT.among(steps, steps[-1])
    number = MOMENT.widget(
        st.select_slider,
        "Moment of the training",
        steps,
        format_func=lambda moment: f"batch {int(snapshots[f'{moment}.step']):,}",
    )
    trace = _at_moment(name, number, image)
    looks_at = to_array(trace.weights(0, [query])[0])
    moments = (_at_moment(name, moment, image) for moment in (steps[0], number, steps[-1]))
    first, now, last = (to_array(received(trace, image)) for trace in moments)
    left, middle, right = st.columns([1, 1, 1], gap="large")
    ink = to_array(image)
    with left:
        st.markdown("**The chosen pixel looks at**")
        ramp = ramp_of(trace, looks_at)
        chart = picture(looks_at.reshape(ink.shape), ramp, title="weight", size=216, marked=query, outline=ink)
        draw_chart(chart, width="content", alt="Where the chosen pixel looks at this moment")
    with middle:
        st.markdown("**Received on average, over the ink queries**")
        chart = picture(now, ramp_of(trace, now), title="weight", size=216, outline=ink)
        draw_chart(chart, width="content", alt="Attention received at this moment")
    with right:
        if trace.has_softmax:
            _narrowness(trace)
        st.markdown(f"**What was given at the start?** {ABOUT[name].start}")
        alike = float(np.corrcoef(first.ravel(), last.ravel())[0, 1])
        given = "most of this map was given" if alike > GIVEN else "this map was learned"
        st.caption(
            f"On this drawing the received attention at the first batch correlates {alike:.2f} with that at the last: "
            f"{given}."
        )
    worth_section()


def _narrowness(trace: AttentionTrace) -> None:
    summary = trace.summary(0)
    entropy, largest = st.columns([1.4, 1])
    told = f"{explain('entropy')} log2(784) = 9.6 bits: looking everywhere alike."
    entropy.metric("mean entropy of a row", f"{float(summary.entropy.mean()):.1f} bits", help=told)
    largest.metric("largest weight", f"{float(summary.largest.max()):.3f}")


@computed(by_model=True)
def _at_moment(name: str, number: int, image: Tensor) -> AttentionTrace:
    return attention_at_snapshot(model_or_stop(name), load_snapshots(name), number, image)[0]
