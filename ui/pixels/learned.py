"""What was learned: the map at eight moments of the training, and what asks for what."""

from collections.abc import Mapping

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
from ui.computed import load_snapshots
from ui.digits import by_model, chosen_query, digit_bars, read_image
from ui.labels import error_markdown, number
from ui.layout import section
from ui.pixels.first_screen import (
    INK_ONLY,
    LAYER,
    NAME,
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
at_snapshot = by_model(attention_at_snapshot)
read_with, ink_number = by_model(split.read_with), by_model(split.ink_number)


def learned_section(reading: Reading) -> None:
    """Draw what training made of the maps, and which part of the scores makes them."""
    _moments(reading)
    _parts(reading)


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
        note(
            f"One number is all that W_Q and W_K have learned together: Q Kᵀ is the drawing times itself, times "
            f"{ink_number(INK_ONLY):.3g}, a matrix of rank one."
        )


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
