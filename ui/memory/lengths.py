"""BLEU against the length of the sentence, from the committed figures of all translators."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from attention_core.charts.lengths import length_chart
from attention_core.topics.translate.lengths import PARTS, TRANSLATORS, ByLength, bleu_by_length
from ui.memory.reading import NAME
from ui.state import Field

PART = Field(NAME, "part", PARTS[0])


def length_tab() -> None:
    """Draw chart and table; name the translators whose figures are missing."""
    st.markdown(
        "Without attention the decoder gets the last states and nothing else: 384 numbers for four words or for forty. "
        "A GRU learns to keep the words that carry the meaning, yet every further word has to share those numbers. "
        "Attention hands over *all* states and lets each target word choose (Bahdanau et al. 2015; this chart is their "
        "figure 2 for our models)."
    )
    part = st.segmented_control(
        "Sentences",
        PARTS,
        format_func=lambda part: f"{part} sentences",
        key=PART.key,
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    figures = bleu_by_length(part=part)
    if figures.scores:
        st.altair_chart(
            length_chart(figures, width=760),
            width="content",
            key="memory_lengths",
            alt="BLEU of every translator by the length of the sentence; the table below has the numbers",
        )
        _gap(figures)
        st.dataframe(_table(figures), hide_index=True, width="stretch", column_config=_columns(figures))
        st.caption(
            f"Lower-cased BLEU (sacrebleu, beam search) on {figures.n:,} {part} sentences that no translator was "
            "trained on. There are few of each length: a point or two is chance."
        )
    if figures.missing:
        missing = ", ".join(f"{TRANSLATORS[name]} (`{name}`)" for name in figures.missing)
        st.info(f"Not evaluated yet: {missing}.")


def _gap(figures: ByLength) -> None:
    """Say what attention is worth for long sentences."""
    none, attention = figures.long.get("translator-none"), figures.long.get("translator-additive")
    if none is not None and attention is not None:
        st.markdown(
            f"Twelve words and more: **{none:.1f}** without attention, **{attention:.1f}** with additive attention, "
            f"a gap of **{attention - none:.1f}**."
        )


def _table(figures: ByLength) -> pd.DataFrame:
    rows = [
        {
            "translator": TRANSLATORS.get(name, name),
            **dict(zip(figures.groups, row, strict=True)),
            "all": figures.overall[name],
        }
        for name, row in figures.scores.items()
    ]
    return pd.DataFrame(rows)


def _columns(figures: ByLength) -> dict:
    return {group: st.column_config.NumberColumn(group, format="%.1f", width=56) for group in [*figures.groups, "all"]}
