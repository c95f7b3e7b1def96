"""Attention over time steps, trained while one waits: a curve's end is foretold, a gap in it filled."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from attention_core.attention.types import Axis, Role
from attention_core.charts import matrix_chart
from attention_core.data.drawing import Stroke
from attention_core.device import device_of, to_array
from attention_core.topics.lookup.charts import SERIES_SIZE, series_chart
from attention_core.topics.lookup.series import (
    BACK,
    BOTH,
    FORECAST,
    HIDDEN,
    PRESET_CURVES,
    LearnedSeries,
    N,
    answers,
    curve_of,
    errors,
    path_of,
    train_series,
)
from ui.canvas import Pad, drawing_pad, ink_of, last_drawn
from ui.chart import draw_chart
from ui.computed import compute_turn
from ui.layout import figures_table
from ui.lookup.table import NAME
from ui.queued_result import result_on_demand
from ui.state import Field, named, single_choice

MAP_HEIGHT = 170
SIZE, PEN = (150, 280), 5  # height and width of the pad, width of the pen, canvas pixels


def _strokes(curve: np.ndarray) -> list[Stroke]:
    return [Stroke(np.round(path_of(curve, SIZE), 1), PEN)]


PRESETS = {name: partial(_strokes, curve) for name, curve in PRESET_CURVES.items()}
PAD = Pad(f"{NAME}_curve", PRESETS, next(iter(PRESETS)), SIZE, address="preset", pen_width=PEN)
HIDING = Field(NAME, "hiding", FORECAST, address="hidden", **named(end=FORECAST, back=BACK, both=BOTH))


def time_section() -> None:
    """Draw the pad, what is told of the hidden part of its curve, and where that comes from."""
    left, right = st.columns([1, 1.4], gap="large")
    with left:
        st.markdown("Draw a curve. What will a network say of its hidden part?")
        pad = drawing_pad(PAD)
        hidden = single_choice("Hidden", HIDING, list(HIDDEN), wrap=True)
        learned = result_on_demand(("trained", "series"), "Train the network", f"{NAME}_train", _steps)
        curve = curve_of(ink_of(pad.canvas, pad.paper))
        if curve is None:
            st.info("Draw from left to right.")
            last = last_drawn(PAD, pad, True)
            curve = curve_of(ink_of(last.canvas, last.paper))
        else:
            last_drawn(PAD, pad, False)
        if learned:
            _told(learned, np.zeros(N) if curve is None else curve, hidden, right)


def _steps() -> Iterator[tuple[float, LearnedSeries]]:
    for learned in train_series():
        yield learned.share, learned


def _told(learned: LearnedSeries, curve: np.ndarray, hidden: str, beside: DeltaGenerator) -> None:
    curves = torch.from_numpy(curve).float()[None].to(device_of(learned.model))
    with compute_turn():
        told, weights = answers(learned.model, curves, hidden)
        here = errors(curves, told, hidden)
    figures_table(
        ("error", "your curve", "1,000 others"),
        *((name, f"{error:.2f}", f"{learned.errors[hidden][name]:.2f}") for name, error in here.items()),
    )
    st.caption("1 = the curve's own spread. A forecast can only look back; a gap is filled better from both sides.")
    asked = HIDDEN[hidden].asked
    chart = series_chart(curve, {name: to_array(one[0]) for name, one in told.items()}, asked)
    rows, columns = (Axis(name, [str(step) for step in some]) for name, some in (("hidden", asked), ("time", range(N))))
    seen = np.where(HIDDEN[hidden].mask(), to_array(weights[0]), np.nan)
    looks = matrix_chart(seen, rows, columns, Role.WEIGHTS, title="weight", size=SERIES_SIZE[0])
    with beside:
        draw_chart(chart, width="content", key="lookup_series", alt="The curve, and what is told of its hidden part")
        st.markdown("**Where each hidden step takes its value from**")
        alt = "Weights of each hidden step on the known ones"
        draw_chart(looks.properties(height=MAP_HEIGHT), width="content", key="lookup_series_map", alt=alt)
