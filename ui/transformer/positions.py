"""Positions as pictures: waves that are given, a table that is learned, pairs of numbers that turn."""

from __future__ import annotations

import altair as alt
import streamlit as st
from torch import Tensor

from attention_core.attention.positions import (
    ByDistance,
    alike_pair,
    by_distance,
    dot_products,
    rotary_angles,
    rotary_scores,
    sinusoidal,
)
from attention_core.attention.types import Axis, Role
from attention_core.charts.heatmap import matrix_chart
from attention_core.charts.positions import distance_chart, hands_chart
from attention_core.device import to_array
from attention_core.topics.transformer.learned_positions import NAME as LEARNED
from attention_core.weights import WeightsError, read_card, read_weights
from ui.layout import section

NAME = "positions"
N, D_ROTARY, FAR = 48, 64, 256
PAIRS = (0, 2, 4, 6, 9, 13)
"""Pairs of a rotary vector that are drawn as hands, fast ones first."""
SIZE = 270


def positions_section(d_model: int) -> None:
    """Draw one kind of positions: the table, the dot products of all pairs, and these by distance."""
    section("Three ways to say where")
    kind = st.segmented_control(
        "Positions",
        ("Sinusoidal", "Learned", "Rotary"),
        default="Sinusoidal",
        key=f"{NAME}_kind",
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    if kind == "Sinusoidal":
        _sinusoidal(d_model)
    elif kind == "Learned":
        _learned()
    else:
        _rotary()


def _sinusoidal(d_model: int) -> None:
    table = sinusoidal(N, d_model)
    st.markdown(
        "This transformer adds waves: fast ones in the first numbers, ever slower ones to the right (Vaswani et al. "
        "2017). Nothing is learned, and the dot product of two positions depends on their distance alone."
    )
    _pictures(_table(table), dot_products(table), "pᵢ · pⱼ", "All pairs of one distance agree: the band has no width.")


def _learned() -> None:
    try:
        tables, card = _read_learned()
    except WeightsError as error:
        st.error(f"**The learned positions cannot be loaded.** {error}", icon=":material/error:")
        return
    steps = card["steps"]
    st.markdown(
        "A small model of ours fills in missing notes of melodies with one attention head over 48 learned positions, "
        "which begin as noise. Nobody tells it their order; it finds out that they form a line, roughly at first."
    )
    step = st.select_slider(
        "Steps of training", steps, steps[-1], key=f"{NAME}_step_of", persist_state="session", width=420
    )
    table, share = tables[steps.index(step)], card["share_right"][steps.index(step)]
    _pictures(
        _table(table),
        dot_products(table),
        "pᵢ · pⱼ",
        f"After {step:,} steps it fills in {share:.0%} of the missing notes rightly. The band is the range over all "
        "pairs of one distance: learned positions need not agree.",
    )


def _rotary() -> None:
    st.markdown(
        "Rotary positions add nothing: they turn each pair of a query's and a key's numbers, like hands of clocks that "
        "run at different speeds (Su et al. 2021). Only the difference of two places is left in q · k."
    )
    seed = st.number_input("Another query", 0, 9999, 0, key=f"{NAME}_seed", persist_state="session", width=160)
    query, key = alike_pair(D_ROTARY, seed)
    _pictures(
        hands_chart(rotary_angles(11, D_ROTARY), PAIRS, cell=25),
        rotary_scores(query, key, N),
        "turned qᵢ · kⱼ",
        "One random query and the key that it likes best, itself, put at every pair of places: most alike where they "
        "stand together, then less and less, in waves.",
        by_distance(rotary_scores(query, key, FAR), FAR - 1),
    )


def _table(table: Tensor) -> alt.LayerChart:
    return matrix_chart(
        to_array(table),
        Axis.numbered("positions", table.shape[0]),
        Axis.numbered("dimensions", table.shape[1]),
        Role.INPUT,
        title="p",
        size=SIZE,
    )


def _pictures(
    first: alt.TopLevelMixin, products: Tensor, title: str, words: str, found: ByDistance | None = None
) -> None:
    picture, matrix, line = st.columns([1, 1, 0.9], gap="medium")
    with picture:
        st.altair_chart(first, key=f"{NAME}_table", width="content", alt="The positions themselves")
    with matrix:
        axis = Axis.numbered("positions", len(products))
        st.altair_chart(
            matrix_chart(to_array(products), axis, axis, Role.SCORES, title=title, size=SIZE),
            key=f"{NAME}_products",
            width="content",
            alt="Dot products of all pairs of positions",
        )
    with line:
        st.altair_chart(
            distance_chart(found or by_distance(products), title),
            key=f"{NAME}_distance",
            alt="Dot products over the distance",
        )
        st.caption(words)


@st.cache_data(show_spinner=False)
def _read_learned() -> tuple[list[Tensor], dict]:
    card, tensors = read_card(LEARNED), read_weights(LEARNED)
    return [tensors[f"positions.{number}"].float() for number in range(len(card["steps"]))], card
