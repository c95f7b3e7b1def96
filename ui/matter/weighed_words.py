"""A sentence shaded by its weights beside bars of weight and of what losing each word does; a click blocks a word.

A component rather than a chart: words keep their type and wrap as text does, and hovering lights both sides at once.
"""

from __future__ import annotations

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.topics.matter.sentences import Sentence
from ui.component import component
from ui.labels import literal
from ui.matter.answer import ATTENTION, NAME, erased, verdict_of
from ui.state import Field

_component = component("weighed_words")


BLOCKED: Field[list[int]] = Field(NAME, "blocked", list)
BLOCKED_IN = Field(NAME, "blocked_in", "")
PICKED = Field(NAME, "picked", -1)
"""The word whose neighbours are shown."""


def blocked_words(text: str) -> tuple[int, ...]:
    """Return the words of this text that a person blocked; another text begins with none, and none picked."""
    if BLOCKED_IN.value != text:
        BLOCKED_IN.value, BLOCKED.value, PICKED.value = text, [], PICKED.default
    return tuple(BLOCKED.value)


def _press() -> None:
    place = ((st.session_state.get("matter_weighed") or {}).get("pressed") or {}).get("place")
    if isinstance(place, int):
        BLOCKED.value = sorted({*BLOCKED.value} ^ {place})


def _give_back() -> None:
    BLOCKED.value = []


def words_section(sentence: Sentence, text: str, trace: AttentionTrace, blocked: tuple[int, ...]) -> None:
    """Draw the shaded sentence with its bars, and what was read otherwise than typed."""
    weights = trace.weights()[0]
    if_blocked, if_removed = erased(text, blocked)
    _component(
        key="matter_weighed",
        data={
            "words": sentence.labels,
            "weights": [round(weight, 5) for weight in weights.tolist()],
            "ifBlocked": [round(change, 8) for change in if_blocked],
            "ifRemoved": [round(change, 8) for change in if_removed],
            "positive": round(verdict_of(ATTENTION, text, blocked).positive, 8),
            "uniform": 1 / trace.n_keys,
            "order": weights.argsort(descending=True, stable=True).tolist(),
            "blocked": list(blocked),
            "turned": sentence.turned,
        },
        default={"pressed": None},
        on_pressed_change=_press,
    )
    st.caption(
        "Blocked: attention may not look at the word, though the encoder has read it. Removed: the sentence is read "
        "without it. Bars to the right make “positive” likelier, to the left “negative”, in log-odds: 0.7 doubles the "
        "odds."
    )
    if blocked:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Give all words back", key="matter_unblock", on_click=_give_back)
            if len(blocked) == len(sentence.words):
                st.caption("Every word is blocked: nothing is handed over, and the answer is the network's prejudice.")
    unknown_places = set(sentence.unknown_words)
    cut = [
        f"{literal(sentence.labels[place], 30)} as {literal(' + '.join(sentence.texts[place]))}"
        for place in sentence.cut_words
        if place not in unknown_places
    ][:6]
    if cut:
        st.caption("Words that are not in the vocabulary are read in pieces: " + "; ".join(cut) + ".")
    unknown = [literal(sentence.labels[place], 30) for place in sorted(unknown_places)[:6]]
    if unknown:
        st.caption(
            f"Letters or signs that no review had are all the same to the models, an unknown one: {', '.join(unknown)}."
        )
