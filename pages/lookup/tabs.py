"""Below the first screen: one query step by step, word by word, in numbers and letters; attention over time."""

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from operator import attrgetter

import numpy as np
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from attention_core import AttentionTrace, Axis, Role
from attention_core.attention.wording import percent
from attention_core.charts.matrix import matrix_chart
from attention_core.data.drawing import Stroke
from attention_core.device import device_of, to_array
from attention_core.hub.model import readable
from attention_core.inference.soft_lookup import MAX_WORDS, SPELLING, Encoder, shared_runs, weigh_words
from attention_core.live_training import series
from pages.lookup.charts import SERIES_SIZE, series_chart
from pages.lookup.table import NAME, QUERY, LookupRequest
from ui.canvas import Pad, draw_pad, inked_pixels, readable_content
from ui.chart import draw_chart
from ui.computed import compute_turn
from ui.job_queue import result_on_demand
from ui.labels import literal, paragraph
from ui.layout import figures_table, section, shaded_word
from ui.player import Stepper, query_row, show_all_numbers
from ui.state import Field, single_choice, slugs

STEPS = Stepper(NAME)
MAX_RUNS = 24  # runs of letters that are listed


def lookup_steps(trace: AttentionTrace, query: int) -> None:
    """Step through the look-up of one query."""
    show_all_numbers(trace, STEPS, NAME, query=query, on_query=QUERY.set, folds_formula=(Role.QUERY, Role.KEY))


def draw_words(request: LookupRequest, temperature: float, query: int, encoder: Encoder) -> None:
    """Draw the words of the keys, each as dark as the weight that the query gives it."""
    words = weigh_words(request.records, request.queries[query], temperature, encoder)
    if not words:
        st.info("The keys have no words.")
        return
    largest, query_text = max(word.weight for word in words), literal(request.queries[query])
    subject = f"Each of the first {MAX_WORDS} words" if len(words) == MAX_WORDS else "Every word"
    paragraph(f"{query_text}  \n{subject} is a key of its own, whatever stands around it:")
    keys = (key_words for _, key_words in groupby(words, key=attrgetter("key")))
    lines = (" ".join(shaded_word(word.text, word.weight, largest) for word in key_words) for key_words in keys)
    st.html(f'<p style="margin:0;line-height:1.8">{"<br>".join(lines)}</p>')
    heaviest = sorted(words, key=attrgetter("weight"))[::-1][:3]
    st.caption(f"Most weight: {', '.join(f'{literal(word.text)} {percent(word.weight)}' for word in heaviest)}.")


def draw_numbers(request: LookupRequest, trace: AttentionTrace, query: int, encoder: Encoder) -> None:
    """Draw one query's row, and how its text becomes a vector: runs it shares with the heaviest key, or its pieces."""
    records = request.records
    number_column, text_column = st.columns([1.5, 1], gap="large")
    with number_column:
        query_row(trace, 0, query, 8, records.key_name)
    with text_column:
        section("How a text becomes a vector")
        text, key = request.queries[query], records.keys[int(trace.weights(0, [query])[0].argmax())]
        if encoder is SPELLING:
            _draw_shared_runs(text, key)
        else:
            _draw_pieces(encoder, text)


def _draw_shared_runs(text: str, key: str) -> None:
    runs = shared_runs(text, key)
    listed = " ".join(f"`{run}`" for run in runs[:MAX_RUNS]) or "none"
    st.markdown(
        f"{literal(text)} and {literal(key)} share **{len(runs)}** runs of two or three letters: "
        f"{listed}{' …' * (len(runs) > MAX_RUNS)}. _ marks where a word begins or ends. Each run adds to one of 512 "
        "numbers, chosen by its letters."
    )


def _draw_pieces(encoder: Encoder, text: str) -> None:
    tokenizer = encoder.named["tokenizer"]
    pieces = readable(tokenizer, tokenizer(text)["input_ids"])
    st.markdown(" ".join(literal(piece) for piece in pieces))
    paragraph("[CLS] and [SEP] mark the ends. In six layers every piece asks all others.")
    st.page_link("pages/model/page.py", label="See where its heads look", icon=":material/arrow_forward:")


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


def time_section() -> None:
    """Draw the pad, what a network makes of the hidden part of its curve, and its weights."""
    left, right = st.columns([1, 1.4], gap="large")
    with left:
        st.markdown("Draw a curve. What will a network say of its hidden part?")
        pad = draw_pad(PAD)
        hidden = single_choice("Hidden", HIDING, list(series.HIDDEN), wrap=True)
        trained = result_on_demand(("trained", "series"), "Train the network", f"{NAME}_train", _training_stages)
        curve = series.curve_of(inked_pixels(pad.canvas, pad.paper))
        readable = readable_content(PAD, pad, is_unreadable=curve is None)
        if curve is None:
            st.info("Draw from left to right.")
            curve = series.curve_of(inked_pixels(readable.canvas, readable.paper))
        if trained:
            _draw_answers(trained, np.zeros(series.N) if curve is None else curve, hidden, right)


def _training_stages() -> Iterator[tuple[float, series.LearnedSeries]]:
    return ((trained.share, trained) for trained in series.train_series())


def _draw_answers(trained: series.LearnedSeries, curve: np.ndarray, hidden: str, charts: DeltaGenerator) -> None:
    """Draw the errors of all answers on the hidden steps and, in the container of charts, answers and weights."""
    curves = torch.from_numpy(curve).float()[None].to(device_of(trained.model))
    with compute_turn():
        answers, weights = series.answers(trained.model, curves, hidden)
        errors = series.errors_of(curves, answers, hidden)
    figures_table(
        ("error", "your curve", "1,000 others"),
        *((name, f"{error:.2f}", f"{trained.errors[hidden][name]:.2f}") for name, error in errors.items()),
    )
    backwards, bidirectional = (
        trained.errors[name][series.ATTENTION] for name in (series.BACKWARDS, series.BIDIRECTIONAL)
    )
    comparison = f"a gap is filled better from both sides: {bidirectional:.2f}, looking back {backwards:.2f}"
    better = f" Over these others {comparison}." if bidirectional < backwards else ""
    st.caption(f"1 = the curve's own spread. A forecast can only look back.{better}")
    hiding = series.HIDDEN[hidden]
    chart = series_chart(curve, {name: to_array(values[0]) for name, values in answers.items()}, hiding.hidden)
    rows, columns = (
        Axis(name, [str(step) for step in steps])
        for name, steps in (("hidden", hiding.hidden), ("time", range(series.N)))
    )
    visible_weights = np.where(hiding.mask(), to_array(weights[0]), np.nan)
    weights_chart = matrix_chart(visible_weights, rows, columns, Role.WEIGHTS, title="weight", size=SERIES_SIZE[0])
    with charts:
        draw_chart(chart, width="content", key="lookup_series", alt="The curve, and what is told of its hidden part")
        st.markdown("**Where each hidden step takes its value from**")
        alt = "Weights of each hidden step on the known ones"
        draw_chart(weights_chart.properties(height=MAP_HEIGHT), width="content", key="lookup_series_map", alt=alt)
