"""How far to believe the answers: the figures on the model's card."""

from __future__ import annotations

import streamlit as st

from attention_core.models.scene_question import SCORINGS
from attention_core.weights import WeightsError, read_card
from ui.ask.answer import SCORE_NAMES
from ui.ask.question import MODEL


def doubts_part() -> None:
    """Say what the map can and cannot tell, and how often the model is right on drawings that it never saw."""
    st.markdown(
        "A weight says from where a value was taken, not why the answer follows from it. Each region has seen its "
        "surroundings, and the answer is also read from the words: blocking a digit tells more than looking at its "
        "colour on the map."
    )
    try:
        card = read_card(MODEL)
    except WeightsError:
        return
    figures, uniform = card.get("test_drawings", {}), card.get("with_uniform_attention", {})
    rows = [
        {
            "score": SCORE_NAMES[one],
            **{kind: f"{share:.1%}" for kind, share in figures[one].get("accuracy_by_kind", {}).items()},
            "all": f"{figures[one]['accuracy']:.1%}",
            "all, uniform weights": f"{uniform[one]:.1%}" if one in uniform else "",
        }
        for one in SCORINGS
        if "accuracy" in figures.get(one, {})
    ]
    if rows:
        st.dataframe(rows, hide_index=True, width="stretch")
        n = figures[SCORINGS[0]].get("n", 0)
        st.caption(
            f"Right answers to {n:,} questions about composed drawings of test digits that it was not trained on."
        )
