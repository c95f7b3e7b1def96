"""What was learned: the map at eight moments of the training, what asks for what, and what attention is worth."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts import contact_sheet, signed_ramp
from attention_core.device import to_array
from attention_core.models import attention_at_snapshot
from attention_core.topics.pixels import split
from attention_core.topics.pixels.split import PARTS, SplitScores, split_scores, with_parts
from attention_core.weights import WeightsError
from ui.chart import draw_chart
from ui.computed import card_or_empty, load_snapshots
from ui.digits import by_model, chosen_query, digit_bars, read_image
from ui.labels import error_markdown, number
from ui.layout import figures_table, section
from ui.pixels.first_screen import (
    ALIKE,
    ALONE,
    GUIDED,
    INK_ONLY,
    LAYER,
    NAME,
    NO_SOFTMAX,
    PENS,
    PLAIN,
    SELF,
    Reading,
    map_chart,
    received,
)
from ui.skeleton import note
from ui.state import Field, multiple_choice, whole_number, whole_numbers

GIVEN = 0.8  # correlation above which a map was mostly there at the start
MOMENT = Field(NAME, "snapshot", -1, address="moment", parse=whole_number)
KEPT = Field(NAME, "parts", list(range(len(PARTS))), address="parts", parse=whole_numbers)
NAMES = ["place asks for a place", "place asks for ink", "ink asks for a place", "ink asks for ink"]
SHORT = ["place → place", "place → ink", "ink → place", "ink → ink"]
SIZE = 200
ROWS = {
    PLAIN: ("ink and position", "softmax"),
    INK_ONLY: ("ink only", "softmax"),
    NO_SOFTMAX: ("without softmax", "Q Kᵀ"),
    SELF: ("control: each pixel takes from itself", "identity I"),
    ALIKE: ("control: all take from all alike", "1/784"),
    ALONE: ("control: the network alone", "none"),
    GUIDED: ("with a head start", "softmax"),
}
FIGURES = ("test_accuracy", PENS, "test_accuracy_with_uniform_attention")
N_TEST = 10_000  # test digits that the accuracies are measured on
at_snapshot = by_model(attention_at_snapshot)
read_with, ink_number = by_model(split.read_with), by_model(split.ink_number)


def learned_section(reading: Reading) -> None:
    """Draw what training made of the maps, which part of the scores makes them, and what attention was worth."""
    _moments(reading)
    _parts(reading)
    _worth()


def _moments(reading: Reading) -> None:
    """Draw the drawing as a moment of the training saw it."""
    name, image = LAYER.value, reading.image
    try:
        snapshots = load_snapshots(name)
    except WeightsError as error:
        st.info(f"The snapshots of the training are not here. {error_markdown(error)}")
        return
    ink = reading.drawing.image
    query = chosen_query(ink, NAME)
    steps = sorted(int(key.split(".")[0]) for key in snapshots if key.endswith(".step"))
    MOMENT.clamp_to_options(steps, steps[-1])
    words = {one: f"batch {int(snapshots[f'{one}.step']):,}" for one in steps}
    moment = MOMENT.widget(st.select_slider, "Moment of the training", steps, format_func=words.__getitem__)
    begun, trace, ended = (_at_moment(name, snapshots, one, image) for one in (steps[0], moment, steps[-1]))
    first, now, last = (to_array(received(one, image)) for one in (begun, trace, ended))
    row = to_array(trace.weights(0, [query])[0])
    maps = (
        ("The framed pixel takes from", row, query),
        ("What each pixel gives to the ink on average", now, None),
    )
    *places, said = st.columns(3, gap="large")
    for place, (title, values, marked) in zip(places, maps, strict=True):
        with place:
            st.markdown(f"**{title}**")
            chart = map_chart(trace, values, ink, size=SIZE, marked=marked)
            draw_chart(chart, width="content", alt=f"{title}, at this moment")
    with said:
        st.markdown("**Are Q and K just random?**")
        st.caption(_whether_learned(name, float(np.corrcoef(first.ravel(), last.ravel())[0, 1])))


def _whether_learned(name: str, alike: float) -> str:
    figures = f"On this drawing the average map of the first batch correlates {alike:.2f} with that of the last"
    if name == INK_ONLY:
        return f"{figures}. A pixel is its ink alone, so the map follows the drawing, learned or not."
    if alike > GIVEN:
        return f"{figures}: most of this map was there at the start."
    return f"At first, yes. {figures}: this map was learned."


def _at_moment(name: str, snapshots: Mapping[str, Tensor], moment: int, image: Tensor) -> AttentionTrace:
    own = {key: tensor for key, tensor in snapshots.items() if key.startswith(f"{moment}.")}
    return at_snapshot(name, own, moment, image)[0]


def _parts(reading: Reading) -> None:
    """Draw the four parts of the scores: their shares, their maps for the query, and what the kept ones make."""
    trace, name = reading.learned.traces[0], LAYER.value
    blank = read_image(name, torch.zeros_like(reading.image)).traces[0]  # of an empty picture: place alone
    parts = split_scores(trace, blank)
    shares = parts.shares()
    section("Q asks, K answers", Role.SCORES)
    st.markdown(
        "Only ink can ask for ink here: a pixel is nothing else."
        if name == INK_ONLY
        else "A pixel's vector is its place plus its ink, so every score is the sum of four products."
    )
    names = {place: f"{NAMES[place]}: {number(shares[part], '.0%')}" for place, part in enumerate(PARTS)}
    told = "How much of the variation within a row of the scores is due to each part; below 0 it works against it."
    kept = multiple_choice("Keep of every score", KEPT, names, help=told)
    kept_parts = [PARTS[place] for place in kept]
    query = chosen_query(reading.drawing.image, NAME)
    answer, kept_map, four = st.columns([1, 0.5, 1.1], gap="medium")
    with answer:
        now = read_with(name, reading.image, kept_parts)
        digit_bars({"with what is kept": now}, 150, "with the parts of the scores that are kept")
        st.caption(_kept_words(now, reading, kept))
    with kept_map:
        changed = with_parts(trace, parts, kept_parts)
        chart = map_chart(
            changed, to_array(changed.weights(0, [query])[0]), reading.drawing.image, size=128, marked=query
        )
        draw_chart(chart, width="content", alt="Where the framed pixel takes from with what is kept")
    with four:
        _four_maps(parts, query)
    if name == INK_ONLY:
        _rank_one(trace, reading.image, query)


def _kept_words(now: np.ndarray, reading: Reading, kept: list[int]) -> str:
    if len(kept) == len(PARTS):
        return "Switch a part off: the maps and the answer follow."
    before = reading.learned.digit
    none = "" if kept else "Nothing is left: every score is 0. "
    became = "stays" if now.argmax() == before else "becomes"
    return f"{none}The answer {became} **{now.argmax()}** ({now.max():.0%}); with all parts it is {before}."


def _four_maps(parts: SplitScores, query: int) -> None:
    rows = np.stack([to_array(parts.scores(part, [query])[0]) for part in PARTS]).reshape(-1, 28, 28)
    sheet = contact_sheet(rows, SHORT, signed_ramp(rows), title="score", columns=4, size=96, marked=query)
    draw_chart(sheet, width="content", alt="The framed pixel's scores, split into four parts")
    st.caption("The framed pixel's scores, part by part: what asks → what is asked. They sum to its scores, exactly.")


def _rank_one(trace: AttentionTrace, image: Tensor, query: int) -> None:
    """Show with the present numbers that the product of queries and keys is the drawing times itself."""
    constant = ink_number(INK_ONLY)
    pixels = image.flatten()
    key = int(pixels.argmax())
    product = trace.query[0].cpu() @ trace.key[0].cpu().T
    off = float((product - constant * torch.outer(pixels, pixels)).abs().max())
    section("Without a position, Q Kᵀ is the drawing times itself", Role.SCORES)
    st.latex(
        rf"Q K^{{\top}} = c\, p\, p^{{\top}}, \quad c = {constant:.4g}: \qquad "
        rf"({query + 1}, {key + 1}) = {constant:.4g} \cdot {float(pixels[query]):.3f} \cdot {float(pixels[key]):.3f} "
        rf"= {constant * float(pixels[query] * pixels[key]):.4g}, \quad \text{{computed: }} "
        rf"{float(product[query, key]):.4g}"
    )
    st.caption(
        f"One number, c, is all that W_Q and W_K have learned together; p is the drawing's 784 pixels. The matrix has "
        f"rank one. Over all 614,656 cells the largest difference is {off:.1e}, which is rounding."
    )


def _worth() -> None:
    cards = {name: card for name in ROWS if "test_accuracy" in (card := card_or_empty(name))}
    if not {PLAIN, ALONE} <= set(cards):
        return
    section("How much of the work did attention do?")
    table, words = st.columns([1.45, 1], gap="large")
    with table:
        figures_table(
            ("what collects", "weights", "test digits", "pen digits", "made uniform"),
            *((*ROWS[name], *(_share(card, part) for part in FIGURES)) for name, card in cards.items()),
        )
    with words:
        st.markdown(verdict(*(cards[name]["test_accuracy"] for name in (PLAIN, ALONE))))
        note(
            "All but the last are trained alike, with a feed-forward network of 256 hidden units on top. Made uniform, "
            "a network reads one vector 784 times, which it never met in training: beside that every attention looks "
            "good."
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
