"""Would equal weights do as well? The network beside one trained with equal weights, whose words are read alone."""

from itertools import repeat

import streamlit as st

from attention_core.attention.types import Role
from attention_core.charts.ramps import GREY, ROLE_COLOURS
from attention_core.inference.sentiment import judge_states
from pages.matter import inputs
from pages.matter.inputs import ATTENTION, AVERAGE, Judgement
from ui.computed import by_model, card_or_empty
from ui.labels import note

CALLED = {ATTENTION: "attention", AVERAGE: "equal weights"}
draw_input = inputs.draw_input
_judge_states = by_model(judge_states)


def _states(judgement: Judgement) -> list[float]:
    return _judge_states(AVERAGE, judgement.sentence).tolist()


def answer(judgement: Judgement) -> str:
    """Say whether attention helps, and how many vectors of this sentence say alone what all say."""
    accuracies = [inputs.accuracy_of(name) for name in CALLED]
    is_close = max(accuracies) - min(accuracies) < inputs.SMALL_CHANGE
    helps = "attention does not help here" if is_close else "attention helps"
    if not judgement.is_read:
        return f"Trained alike, {helps}; neither knows enough words."
    verdict, states = judgement.verdict(AVERAGE).answer, _states(judgement)
    n_alike = sum((state >= 0.5) == (verdict == "positive") for state in states)
    return f"Trained alike, {helps}: each vector has read all words. {n_alike} of {len(states)} alone say *{verdict}*."


def draw(judgement: Judgement) -> None:
    """Draw both networks, and what the vectors of single words say."""
    accuracy = card_or_empty(AVERAGE).get("accuracy_of_one_state", 0)
    left, right = st.columns(2, gap="large")
    with left:
        inputs.draw_networks(judgement, CALLED, ("one word's vector", accuracy, GREY))
    if judgement.is_read:
        with right:
            bars = zip(judgement.sentence.labels, _states(judgement), repeat(ROLE_COLOURS[Role.VALUE]), strict=False)
            inputs.draw_bars("Each vector alone: positive", [*bars])
            note("In the network of equal weights.")
