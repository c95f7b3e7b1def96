"""One look, step by step: the regions' numbers as a picture, the empty key's beside it."""

from __future__ import annotations

import altair as alt
import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role, Step
from attention_core.charts import contact_sheet, overlay, ramp_for
from attention_core.charts.bars import bars
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.charts.regions import region_picture, vector_bars
from attention_core.data.questions import ANSWERS
from attention_core.device import to_array
from attention_core.models.scene_question import Answered
from attention_core.models.scene_question_steps import EMPTY
from ui.ask.answer import grid_of, shaded_words
from ui.ask.pad import NAME, AskedDrawing
from ui.export import export_bar
from ui.query_row import query_row
from ui.step_view import show_words
from ui.stepper import is_hidden, stepper

SHEET = 24
"""Dimensions of keys and values that are drawn: those that differ most from region to region."""
BARS = 12


def steps_part(drawing: AskedDrawing, answered: Answered) -> None:
    """Step through one look from the picture to the answer."""
    number = _choose_look(len(answered.looks))
    trace = answered.looks[number]
    step = stepper(trace, f"{NAME}_look", first="weights")
    heaviest = int(trace.weights()[0].argmax())
    if not is_hidden(step, f"{NAME}_look"):
        words, picture = st.columns([0.82, 1], gap="large")
        with words:
            small, hint = st.columns([1, 1.1], vertical_alignment="center")
            with small:
                chart = overlay(drawing.canvas, _map_of(trace, grid_of(answered)), size=150, bar=False)
                st.altair_chart(chart, width="content", key=f"{NAME}_small", alt="The drawing with this look's map")
            with hint:
                st.html(f"<p style='margin:0'>{shaded_words(answered.words[number])}</p>")
                where = trace.story.key_axis.labels[heaviest]
                st.caption(f"The key with the largest weight: {where} (number {heaviest}). The arrow keys step.")
            show_words(trace, step, 0, 0, heaviest)
        with picture:
            _show(step, drawing, grid_of(answered), heaviest)
    query_row(trace, 0, 0, key_words="region")
    export_bar(trace, NAME, query=0)


def _choose_look(n_looks: int) -> int:
    return st.segmented_control(
        "Look",
        range(n_looks),
        format_func=lambda one: f"Look {one + 1}",
        default=None if f"{NAME}_number" in st.session_state else n_looks - 1,
        key=f"{NAME}_number",
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )


def _map_of(trace: AttentionTrace, grid: tuple[int, int]) -> np.ndarray:
    return to_array(trace.weights()[0, :-1].reshape(grid))


def _show(step: Step, drawing: AskedDrawing, grid: tuple[int, int], heaviest: int) -> None:
    if step.name == "picture":
        pixels = drawing.seen.shown.repeat(5, 0).repeat(5, 1)
        st.image(pixels, output_format="PNG", alt="The 64 x 64 picture that the model sees")
        st.caption("In the model's eyes the paper is always white; ink and its colour are channels of their own.")
        return
    values = to_array(step.value().float())
    words = f"{step.title}: {step.shape[0]} {step.row_axis.name} by {step.shape[1]} {step.col_axis.name}"
    chart = _chart_for(step, values, drawing, grid, heaviest)
    st.altair_chart(chart, width="content", key=f"{NAME}_step_{step.name}", alt=words)
    if len(values) > 1:
        st.caption(
            f"{SHEET} of {values.shape[1]} dimensions, those that differ most from region to region. "
            "The number beside each name is the empty key's."
        )


def _chart_for(
    step: Step, values: np.ndarray, drawing: AskedDrawing, grid: tuple[int, int], heaviest: int
) -> alt.TopLevelMixin:
    """Return the chart that suits a step: pictures for what the regions have, bars for a single vector."""
    n_regions = grid[0] * grid[1]
    if step.role == Role.OUTPUT:
        leading = np.argsort(-values[0])[:BARS]
        labels, colour = [ANSWERS[place] for place in leading], ROLE_COLOURS[Role.OUTPUT]
        return bars(values[0][leading].tolist(), labels, title="probability", colour=colour, height=300).properties(
            width=380
        )
    if values.shape == (1, n_regions + 1):
        ramp = ramp_for(step.role, values[np.isfinite(values)], n_regions + 1)
        return region_picture(
            values[0],
            grid,
            ramp,
            title=step.title.lower(),
            extra=EMPTY,
            size=350,
            ink=to_array(drawing.seen.picture[0]),
            marked=heaviest,
        )
    if values.shape[0] == n_regions + 1:
        telling = np.sort(np.argsort(-values[:-1].std(0))[:SHEET])
        names = [f"{place}  ∅ {values[-1, place]:+.1f}" for place in telling]
        pictures = values[:-1, telling].T.reshape(-1, *grid)
        ramp = ramp_for(step.role, pictures, n_regions)
        return contact_sheet(pictures, names, ramp, title=step.title.split(":")[0].lower(), columns=6, size=76)
    return vector_bars(values[0], title=step.symbol, colour=ROLE_COLOURS[step.role])
