"""Are Q and K just random? The attention that the network paid to the drawing at a moment of its training."""

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.wording import percent
from attention_core.device import to_array
from attention_core.inference import pixel_readout as readout
from attention_core.inference.digits import partial_correlation
from attention_core.models import attention_at_snapshot
from attention_core.weights import WeightsError
from pages.pixels import first_screen as screen
from pages.pixels.inputs import draw_drawing
from ui.chart import draw_chart
from ui.computed import by_model, load_snapshots
from ui.labels import error_markdown, number
from ui.layout import stop_run
from ui.state import Field, whole_number

INITIAL_LIKENESS = 0.4  # correlation beyond the ink, above which much of a map counts as there from the start
MOMENT = Field(screen.NAME, "snapshot", -1, address="moment", parse=whole_number)
_at_snapshot = by_model(attention_at_snapshot)


class Training(NamedTuple):
    """The attention paid to a drawing before the training, at the chosen moment, and after it."""

    reading: screen.Reading
    traces: tuple[AttentionTrace, AttentionTrace, AttentionTrace]
    score_sources: str  # what queries and keys come from after the training, in words
    beside: DeltaGenerator


def draw_input() -> Training:
    """Draw the pad, and beside it the moment of the training."""
    reading, beside = draw_drawing()
    name, image = screen.LAYER.value, reading.image
    with beside:
        try:
            snapshots = load_snapshots(name)
        except WeightsError as error:
            st.info(f"The snapshots of the training are not here. {error_markdown(error)}")
            stop_run()
        moments = sorted(int(key.split(".")[0]) for key in snapshots if key.endswith(".step"))
        MOMENT.clamp_to_options(moments, moments[-1])
        labels = {moment: f"{int(snapshots[f'{moment}.step']):,}" for moment in moments}
        chosen = MOMENT.widget(st.select_slider, "Batch of the training", moments, format_func=labels.__getitem__)
    first, present, last = (_at_moment(name, snapshots, moment, image) for moment in (moments[0], chosen, moments[-1]))
    sources = "" if name == screen.INK_ONLY else _describe_score_sources(name, snapshots, moments[-1], image)
    return Training(reading, (first, present, last), sources, beside)


def answer(training: Training) -> str:
    """Say whether the training made the map, and what queries and keys come from."""
    image = training.reading.image
    first, _, last = (to_array(screen.attention_received(trace, image)) for trace in training.traces)
    correlation = partial_correlation(first, last, training.reading.drawing.image)
    return f"{_whether_learned(screen.LAYER.value, correlation)} {training.score_sources}".strip()


def draw(training: Training) -> None:
    """Draw what all ink takes from, before the training and at the moment."""
    image = training.reading.image
    titles = "Where ink looks before training", "At this moment"
    for column, title, trace in zip(training.beside.columns(2, gap="large"), titles, training.traces[:2], strict=True):
        with column:
            st.markdown(title)
            received = to_array(screen.attention_received(trace, image))
            chart = screen.map_chart(trace, received, training.reading.drawing.image, size=280)
            draw_chart(chart, width="content", alt=title)


def _whether_learned(name: str, correlation: float) -> str:
    if name == screen.INK_ONLY:
        return "A pixel is its ink alone: Q Kᵀ is the drawing times itself, of rank one, learned or not."
    figures = f"Beyond the ink, maps before and after training correlate {number(correlation)}"
    if name == screen.GUIDED:
        return f"Never: near pixels and ink were preferred from the start. {figures}."
    was_initial = correlation > INITIAL_LIKENESS
    return f"{figures}: much was there at the start." if was_initial else f"At first, yes. {figures}."


def _describe_score_sources(name: str, snapshots: Mapping[str, Tensor], moment: int, image: Tensor) -> str:
    """Say whether ink or position has the larger share in the queries, and in the keys."""
    inked_trace, blank_trace = (
        _at_moment(name, snapshots, moment, pixels) for pixels in (image, torch.zeros_like(image))
    )
    shares = readout.term_shares(readout.split_scores(inked_trace, blank_trace))
    query_source, key_source = (
        _describe_larger_share(sum(share for sources, share in shares.items() if sources[side] == readout.INK))
        for side in (0, 1)
    )
    return f"After training a pixel's Q is {query_source}, its K {key_source}."


def _describe_larger_share(ink: float) -> str:
    """Say which of ink and position decides, from the share of the ink; above 1 the position works against it."""
    if round(100 * ink) == 50:
        return "up to its ink and its place alike"
    share, larger, smaller = max((ink, readout.INK, readout.POSITION), (1 - ink, readout.POSITION, readout.INK))
    against = f"; its {smaller} works the other way" if share > 1 else ""
    return f"mostly up to its {larger} ({percent(share)}{against})"


def _at_moment(name: str, snapshots: Mapping[str, Tensor], moment: int, image: Tensor) -> AttentionTrace:
    tensors = {key: tensor for key, tensor in snapshots.items() if key.startswith(f"{moment}.")}
    return _at_snapshot(name, tensors, moment, image)[0]
