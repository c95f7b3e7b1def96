"""Can it guess how a curve goes on? A network learns where each hidden time step takes its value from."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from attention_core import Axis, Role
from attention_core.charts.matrix import matrix_chart
from attention_core.data.drawing import Stroke
from attention_core.device import device_of, to_array
from attention_core.live_training import series
from pages.lookup.charts import SERIES_SIZE, series_chart
from pages.lookup.table import NAME
from ui.canvas import Pad, draw_pad, inked_pixels, readable_content
from ui.chart import draw_chart
from ui.computed import compute_turn
from ui.job_queue import result_on_demand
from ui.layout import figures_table
from ui.state import Field, single_choice, slugs

MAP_HEIGHT = 170  # screen pixels
PAD_SIZE, PEN_WIDTH = (150, 280), 5  # canvas pixels; height and width of the pad


def _strokes(curve: np.ndarray) -> list[Stroke]:
    return [Stroke(np.round(series.path_of(curve, PAD_SIZE), 1), PEN_WIDTH)]


PRESETS = {name: partial(_strokes, curve) for name, curve in series.PRESET_CURVES.items()}
PAD = Pad(f"{NAME}_curve", PRESETS, next(iter(PRESETS)), PAD_SIZE, address="preset", pen_width=PEN_WIDTH)
HIDING = Field(
    NAME,
    "hiding",
    series.FORECAST,
    address="hidden",
    **slugs(end=series.FORECAST, back=series.BACKWARDS, both=series.BIDIRECTIONAL),
)


class HiddenCurve(NamedTuple):
    """A curve of which a part is hidden, and what a network says of that, once it is trained."""

    curve: np.ndarray  # (n,), from -1 to 1
    hidden: str  # which part
    trained: series.LearnedSeries | None
    answers: dict[str, np.ndarray]  # by who answers, each (n_hidden,)
    weights: np.ndarray  # (n_hidden, n)
    errors: dict[str, float]  # of the answers
    charts: DeltaGenerator  # the container beside the pad


def draw_input() -> HiddenCurve:
    """Draw the pad, what is hidden, and a button that trains; return what the network says."""
    left, right = st.columns([1, 1.4], gap="large")
    with left:
        pad = draw_pad(PAD)
        hidden = single_choice("Hidden", HIDING, list(series.HIDDEN), wrap=True)
        trained = result_on_demand(("trained", "series"), "Train the network", f"{NAME}_train", _training_stages)
        curve = series.curve_of(inked_pixels(pad.canvas, pad.paper))
        readable = readable_content(PAD, pad, is_unreadable=curve is None)
        if curve is None:
            st.info("Draw from left to right.")
            curve = series.curve_of(inked_pixels(readable.canvas, readable.paper))
    curve = np.zeros(series.N) if curve is None else curve
    if not trained:
        return HiddenCurve(curve, hidden, None, {}, np.empty(0), {}, right)
    curves = torch.from_numpy(curve).float()[None].to(device_of(trained.model))
    with compute_turn():
        answers, weights = series.answers(trained.model, curves, hidden)
        errors = series.errors_of(curves, answers, hidden)
    arrays = {name: to_array(values[0]) for name, values in answers.items()}
    return HiddenCurve(curve, hidden, trained, arrays, to_array(weights[0]), errors, right)


def _training_stages() -> Iterator[tuple[float, series.LearnedSeries]]:
    return ((trained.share, trained) for trained in series.train_series())


def answer(prediction: HiddenCurve) -> str:
    """Say how far off the network is."""
    if not prediction.trained:
        return "Training takes some seconds."
    errors_of = prediction.trained.errors
    backwards, bidirectional = (errors_of[name][series.ATTENTION] for name in (series.BACKWARDS, series.BIDIRECTIONAL))
    errors = f"{bidirectional:.2f}, looking back {backwards:.2f}"
    better = f" Over 1,000 others, a gap is filled better from both sides: {errors}."
    error = prediction.errors[series.ATTENTION]
    return f"Attention is off by {error:.2f} of the curve's own spread.{better * (bidirectional < backwards)}"


def draw(prediction: HiddenCurve) -> None:
    """Draw the answers, the weights, and the errors."""
    if not prediction.trained:
        return
    hiding, mean_errors = series.HIDDEN[prediction.hidden], prediction.trained.errors[prediction.hidden]
    rows, columns = (
        Axis(name, [str(step) for step in steps])
        for name, steps in (("hidden", hiding.hidden), ("time", range(series.N)))
    )
    visible_weights = np.where(hiding.mask(), prediction.weights, np.nan)
    weights_chart = matrix_chart(visible_weights, rows, columns, Role.WEIGHTS, title="weight", size=SERIES_SIZE[0])
    with prediction.charts:
        chart = series_chart(prediction.curve, prediction.answers, hiding.hidden)
        draw_chart(chart, width="content", key="lookup_series", alt="The curve and its hidden part")
        st.markdown("**Where each hidden step takes its value from**")
        alt = "Weights of each hidden step"
        draw_chart(weights_chart.properties(height=MAP_HEIGHT), width="content", key="lookup_series_map", alt=alt)
    figures_table(
        ("error", "your curve", "1,000 others"),
        *((name, f"{error:.2f}", f"{mean_errors[name]:.2f}") for name, error in prediction.errors.items()),
    )
