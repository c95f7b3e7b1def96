"""Attention does not know where a word stands: shuffle the sentence, with and without positions."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import streamlit as st

from attention_core.attention.types import Axis, Role
from attention_core.charts.heatmap import matrix_chart
from attention_core.charts.palette import BLUE_ORANGE, Ramp
from attention_core.topics.transformer.ablation import Edited
from attention_core.topics.transformer.shuffling import compare_orders, movable_words, reordered, word_order
from attention_core.topics.translate.translation import read_source, translate
from ui.layout import section
from ui.models import COMPUTE, model_or_stop
from ui.transformer.parts import pieces_html
from ui.transformer.state import BEAM, MODEL, NAME, translation

WAYS = {False: "Positions left out", True: "With positions"}
COSINE = Ramp(BLUE_ORANGE, -1.0, 1.0)


def shuffle_section(text: str) -> None:
    """Draw the encoder's states of the sentence against those of the same words in another order."""
    state = st.session_state
    state.setdefault(f"{NAME}_order", ["shuffled", 0])
    section("Where a word stands")
    st.markdown(
        "Attention is a weighted average: it knows what is there, not where. Shuffled inputs give the same outputs, "
        "shuffled. Only what is added to each piece, its position, tells the encoder who bit whom."
    )
    source = read_source(text)
    how, seed = state[f"{NAME}_order"]
    order = word_order(movable_words(source), how, seed)
    other, _ = reordered(source, order)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Shuffle", key=f"{NAME}_shuffle", on_click=_choose, args=("shuffled",), icon=":material/shuffle:")
        st.button("Reverse", key=f"{NAME}_reverse", on_click=_choose, args=("reversed",))
        st.html(f'<p class="pieces">{pieces_html(other.labels, other.word_of)}</p>')
    for column, with_positions in zip(st.columns(2, gap="large"), WAYS, strict=True):
        with column:
            _compared(text, how, seed, with_positions)
    st.caption(
        "Cosine of the encoder's output for each piece of the sentence (rows) and of the shuffled one (columns). "
        "Left, every piece finds its own vector again: differences of a millionth are rounding. The decoder's own "
        "positions are left out with the encoder's."
    )


def _choose(how: str) -> None:
    _, seed = st.session_state[f"{NAME}_order"]
    st.session_state[f"{NAME}_order"] = [how, seed + (how == "shuffled")]


def _compared(text: str, how: str, seed: int, with_positions: bool) -> None:
    found = _compare(text, how, seed, with_positions)
    st.markdown(f"**{WAYS[with_positions]}**: largest difference of any number **{found['largest']:.2g}**")
    st.altair_chart(
        matrix_chart(
            np.asarray(found["likeness"]),
            Axis("as typed", found["rows"]),
            Axis("shuffled", found["cols"]),
            Role.SCORES,
            title="cosine",
            size=330,
            ramp=COSINE,
        ),
        key=f"{NAME}_likeness_{with_positions}",
        width="content",
        alt=f"{WAYS[with_positions]}: likeness of the encoder's outputs before and after shuffling",
    )
    before = translation(text, (), with_positions).text
    same = "the same" if before == found["french"] else "not the same"
    st.html(
        f'<p style="margin:0">As typed: <i lang="fr">{html.escape(before)}</i><br>'
        f'Shuffled: <i lang="fr">{html.escape(found["french"])}</i> ({same})</p>'
    )


@st.cache_data(max_entries=200, show_spinner=False)
def _compare(text: str, how: str, seed: int, with_positions: bool) -> dict[str, Any]:
    source, model = read_source(text), model_or_stop(MODEL)
    order = word_order(movable_words(source), how, seed)
    other, _ = reordered(source, order)
    with COMPUTE:
        found = compare_orders(model, source, order, with_positions=with_positions)
        french = translate(Edited(model, with_positions=with_positions), other, BEAM).text
    return {
        "largest": found.largest,
        "likeness": found.likeness.tolist(),
        "rows": source.labels,
        "cols": other.labels,
        "french": french,
    }
