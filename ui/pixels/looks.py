"""Where pixels look: step by step, one of them from all sides, averages over all 784, and while it is being learned."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts import Ramp, picture, signed_ramp
from attention_core.charts.vega import VIRIDIS
from attention_core.data.drawing import Drawing
from attention_core.device import to_array
from attention_core.models import attention_at_snapshot
from attention_core.topics.pixels.split import product_means
from attention_core.weights import WeightsError
from ui.chart import draw_chart
from ui.computed import card_or_empty, load_snapshots
from ui.digits import by_model, chosen_query, pick_pixel
from ui.labels import error_markdown, number
from ui.layout import figures_table, section
from ui.pixels.first_screen import ABOUT, GUIDED, INK_ONLY, LAYER, NAME, NO_SOFTMAX, PLAIN, STEPS, ramp_of, received
from ui.player import query_row, show_step_chart, show_words
from ui.skeleton import explain, note, paragraph
from ui.state import Field, named, single_choice, whole_number

GIVEN = 0.8  # correlation above which a map was mostly there at the start
MOMENT = Field(NAME, "snapshot", -1, address="moment", parse=whole_number)
MAP_SIZE = 250
WEIGHTS, SCORES, PRODUCT = "the weights A", "the scaled scores", "Q Kᵀ itself"
AVERAGED = Field(NAME, "averaged", WEIGHTS, address="average", **named(weights=WEIGHTS, scores=SCORES, product=PRODUCT))
QUERIES_ONLY = Field(NAME, "ink_only", False, address="ink")
ROWS = {
    PLAIN: ("plain layer: ink and position", "softmax"),
    INK_ONLY: ("plain layer: ink only", "softmax"),
    NO_SOFTMAX: ("plain layer, without softmax", "Q Kᵀ"),
    "pixel-notes-self": ("control: each pixel looks at itself", "identity I"),
    "pixel-notes-uniform": ("control: all look at all alike", "1/784"),
    "pixel-notes-alone": ("control: the network alone", "none"),
    GUIDED: ("the layer with a head start", "softmax"),
}
FIGURES = ("test_accuracy", "held_out_stroke_accuracy", "test_accuracy_with_uniform_attention")
N_TEST = 10_000  # test digits that the accuracies are measured on
at_snapshot = by_model(attention_at_snapshot)


class Map(NamedTuple):
    title: str  # what it is
    symbol: str  # exactly what is averaged, Markdown
    values: np.ndarray  # (n,)
    ramp: Ramp
    unit: str  # of a value
    words: str  # one sentence below it


def pixels_steps(trace: AttentionTrace, drawing: Drawing) -> None:
    """Draw the stepper and, on one screen, the drawing with the query, the step's formula and its matrix."""
    query = chosen_query(drawing.image, NAME)
    step = STEPS.draw(trace)
    hidden = STEPS.draw_guess(trace, step, query)
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
            show_step_chart(step, 0, query, NAME)


def chosen_pixel(trace: AttentionTrace, drawing: Drawing) -> None:
    """Draw where the query looks, who looks at it, and its row in numbers."""
    query = chosen_query(drawing.image, NAME)
    pick, looks = st.columns([1, 3], gap="medium")
    with pick:
        section("The chosen pixel", Role.QUERY)
        pick_pixel(drawing.image, NAME, size=168, key="pick_map")
        st.caption("Click a pixel: it becomes the query.")
    with looks:
        _query_maps(trace, query, drawing.image)
        if trace.has_softmax:
            query_row(trace, 0, query)


def learning_section(image: Tensor) -> None:
    """Draw the drawing as eight moments of the training saw it, and what attention was worth in the end."""
    name = LAYER.value
    try:
        snapshots = load_snapshots(name)
    except WeightsError as error:
        st.info(f"The snapshots of the training are not here. {error_markdown(error)}")
        return
    query = chosen_query(to_array(image), NAME)
    steps = sorted(int(key.split(".")[0]) for key in snapshots if key.endswith(".step"))
    MOMENT.clamp_to_options(steps, steps[-1])
    moment = MOMENT.widget(
        st.select_slider,
        "Moment of the training",
        steps,
        format_func=lambda one: f"batch {int(snapshots[f'{one}.step']):,}",
    )
    begun, trace, ended = (_at_moment(name, snapshots, one, image) for one in (steps[0], moment, steps[-1]))
    first, now, last = (to_array(received(one, image)) for one in (begun, trace, ended))
    looks_at = to_array(trace.weights(0, [query])[0])
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
    _worth()


def _narrowness(trace: AttentionTrace) -> None:
    summary = trace.summary(0)
    entropy, largest = st.columns([1.4, 1])
    told = f"{explain('entropy')} log2(784) = 9.6 bits: looking everywhere alike."
    entropy.metric("mean entropy of a row", f"{float(summary.entropy.mean()):.1f} bits", help=told)
    largest.metric("largest weight", f"{float(summary.largest.max()):.3f}")


def _at_moment(name: str, snapshots: Mapping[str, Tensor], moment: int, image: Tensor) -> AttentionTrace:
    own = {key: tensor for key, tensor in snapshots.items() if key.startswith(f"{moment}.")}
    return at_snapshot(name, own, moment, image)[0]


def _query_maps(trace: AttentionTrace, query: int, image: np.ndarray) -> None:
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
        averaged = single_choice("Average", AVERAGED, (WEIGHTS, SCORES, PRODUCT), wrap=True)
        ink_only = averaged == WEIGHTS and QUERIES_ONLY.widget(
            st.toggle, "Average over ink queries only", help="Most queries are background."
        )
    maps = _of_weights(trace, image, ink_only) if averaged == WEIGHTS else _of_scores(trace, averaged)
    for column, one in zip(st.columns(3), maps, strict=False):
        with column:
            paragraph(f"**{one.title}**  \n{one.symbol}")
            _draw(one, query, image)
            note(one.words)


def _draw(one: Map, query: int, image: np.ndarray) -> None:
    chart = picture(
        one.values.reshape(image.shape), one.ramp, title=one.unit, size=MAP_SIZE, marked=query, outline=image
    )
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


def _worth() -> None:
    cards = {name: card for name in ROWS if "test_accuracy" in (card := card_or_empty(name))}
    if not {PLAIN, "pixel-notes-alone"} <= set(cards):
        return
    section("How much of the work did attention do?")
    table, words = st.columns([1.45, 1], gap="large")
    with table:
        figures_table(
            ("what collects", "weights", "test digits", "pen digits", "made uniform"),
            *((*ROWS[name], *(_share(card, part) for part in FIGURES)) for name, card in cards.items()),
        )
    with words:
        st.markdown(verdict(*(cards[name]["test_accuracy"] for name in (PLAIN, "pixel-notes-alone"))))
        note(
            "All but the last are trained alike, with a feed-forward network of 256 hidden units on top; without "
            "softmax the scores, divided by 784, are the weights. Laid end to end, what 784 pixels collect keeps its "
            "place, so that the network can read the drawing past the attention: with A = I it is no more than the "
            "network alone. With weights made uniform it reads one vector 784 times: beside that every attention "
            "looks good."
        )


def _share(card: dict[str, Any], part: str) -> str:
    return f"{card[part]:.1%}" if card.get(part) is not None else ""


def verdict(plain: float, alone: float) -> str:
    """Say how much work attention did: the plain layer against the network alone, within two standard errors.

    Given are the shares of the test digits that each reads right.
    """
    gain = plain - alone
    figures = f"with attention {plain:.1%} of the test digits are read right, without any {alone:.1%}"
    standard_error = math.sqrt((plain * (1 - plain) + alone * (1 - alone)) / N_TEST)
    if abs(gain) <= 2 * standard_error:
        return (
            f"**Attention did next to none of the work**: {figures}, a difference that chance alone could make. The "
            "network on top sees every pixel's ink in its place in any case, and passes the attention by."
        )
    if gain < 0:
        return (
            f"**Attention cost more than it gave**: {figures}. The network on top sees every pixel's ink in its place "
            "in any case; mixing the pixels before it only blurs them."
        )
    share = gain / (1 - alone)
    part = "a small" if share < 1 / 3 else "a good"
    return (
        f"**Attention did {part} part of the work**: {figures}; it takes away {share:.0%} of the errors. The rest is "
        "done by the network on top, which sees every pixel's ink in its place in any case."
    )
